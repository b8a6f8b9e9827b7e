import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { createServer, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { proposals } from "@troupe/scripted"
import { runHere, runProcess } from "../double/programRun.ts"

let folder: string

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "demo-")))
  await writeFile(join(folder, "notes.txt"), "buy milk\n")
  await writeFile(join(folder, "plan.md"), "# Plan\n")
})

afterAll(() => rm(folder, { recursive: true }))

/** A provider on the loopback interface, and the flags that lead to it. */
const serve = async (answer: (response: ServerResponse) => void) => {
  const server = createServer((_request, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  const args = ["--base-url", `http://127.0.0.1:${port}/v1`, "--model", "some-model"]
  return { args, close: () => void server.close() }
}

describe("the program with piped input", () => {
  test("answers every line, without colours, whatever happens to one, exits 0 and leaves nothing running", async () => {
    const lines = [
      "list the files here",
      "read notes.txt and what is 6 * 7",
      "crash a tool",
      "/kill",
      "book a table",
      "at eight",
      "/tree",
      "search for plan and read it"
    ]
    const { code, out, err, leftovers } = await runProcess(lines.join("\n"), { folder })
    for (const line of lines) expect(out).toContain(`› ${line}\n`)
    expect(out).toContain("This folder holds 2 files:\n  notes.txt\n  plan.md\n")
    expect(out).toContain("notes.txt has 1 line:\n  buy milk\n")
    expect(out).toContain("6 * 7 = 42")
    expect(out).toMatch(/✖ crash\(\) crashed: .*the tool broke, as asked/)
    expect(out).toMatch(/its supervisor started it again as <0\.\d+\.0>, with the \d+ messages of its thread/)
    expect(out).toContain('You answered my question with "at eight".')
    expect(out).toMatch(/ChatSupervisor <0\.\d+\.0> idle, 1 restarts?, \d+\.\d kB\n +└─ Chat demo/)
    expect(out).toContain("plan.md has 1 line:\n  # Plan\n")
    expect(out).not.toContain("\u001b")
    expect({ code, err, leftovers }).toEqual({ code: 0, err: "", leftovers: false })
  })

  test("asks what the demo proposes when there is no question, and answers its own question", async () => {
    const { code, out, err, leftovers } = await runProcess("", { folder })
    expect(out).toContain("Nobody asks anything here")
    for (const { text } of proposals) expect(out).toContain(`› ${text}\n`)
    expect(out).toContain("12 * (3 + 4) = 84")
    expect(out).toMatch(/slow_job .*100%/)
    expect(out).toMatch(/✖ crash\(\) crashed/)
    expect(out).toContain('You answered my question with "Tomorrow at seven, for two".')
    expect({ code, err, leftovers }).toEqual({ code: 0, err: "", leftovers: false })
  })

  test("shows the progress of long work", async () => {
    expect((await runHere("wait for 1 seconds")).out).toMatch(/slow_job ▓{8}░{8} 50%[^]*worked for 1 seconds/)
  })

  test("each /kill ends the chat's process, and the chat is there again each time", async () => {
    const { code, out } = await runHere(["what is 6 * 7", ...Array<string>(5).fill("/kill"), "/retry"].join("\n"))
    expect(out.match(/its supervisor started it again as <0\.\d+\.0>, with the 4 messages/g)).toHaveLength(5)
    expect(out.match(/^6 \* 7 = 42$/gm)).toHaveLength(2)
    expect(code).toBe(0)
  })

  test("/retry before the first message prints why, leaves the exit code, and the next line is answered", async () => {
    const { code, out, err } = await runHere("/retry\nwhat is 6 * 7\n")
    expect(out).toContain("› /retry\n✖ Nothing was said yet in the chat; use send\n")
    expect(out).toContain("6 * 7 = 42")
    expect({ code, err }).toEqual({ code: 0, err: "" })
  })

  test("/quit ends it before the input does", async () => {
    const { code, out } = await runHere("/quit\nwhat is 6 * 7\n")
    expect(code).toBe(0)
    expect(out).not.toContain("42")
  })

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143]
  ] as const)("%s cancels the turn, stops everything and sets the exit code", async (signal, expected) => {
    const interrupt = { when: "slow_job ▓", signal }
    const { code, out, leftovers } = await runProcess("run the slow tool\n", { folder, interrupt })
    expect(out).toContain("■ cancelled")
    expect({ code, leftovers }).toEqual({ code: expected, leftovers: false })
  })
})

describe("a signal during start-up", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143]
  ] as const)("%s ends it before the first line, with nothing left running", async (startUpSignal, code) => {
    const ended = await runProcess("what is 6 * 7\n", { folder, startUpSignal })
    expect(ended).toEqual({ code, out: "", err: "", leftovers: false })
  })
})

describe("the program's exit code", () => {
  test.each([
    [["--nonsense"], "demo: unknown option '--nonsense'; --help shows the options\n"],
    [
      ["--model", "openai:gpt-5.5"],
      "demo: OPENAI_API_KEY is not set; openai needs it (without --model, a scripted model answers)\n"
    ],
    [
      ["--base-url", "http://127.0.0.1:1/v1"],
      "demo: --base-url needs --model with the name of a model of that server\n"
    ]
  ])("is 1 for %j, with one line", async (args, err) => {
    expect(await runHere("hello\n", { args })).toEqual({ code: 1, out: "", err })
  })

  test("is 1 for a process with a wrong command line, which leaves nothing running", async () => {
    const err = "demo: unknown option '--nonsense'; --help shows the options\n"
    expect(await runProcess("hello\n", { args: ["--nonsense"] })).toEqual({ code: 1, out: "", err, leftovers: false })
  })

  test("is 0 for --help", async () => {
    expect(await runHere("", { args: ["--help"] })).toMatchObject({
      code: 0,
      out: expect.stringContaining("Usage: demo")
    })
  })

  test("is 1 when a provider fails, after every line was tried", async () => {
    let asked = 0
    const { args, close } = await serve((response) => {
      asked++
      response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"no such key"}}')
    })
    const { code, out } = await runHere("hello\nhello again\n", { args })
    close()
    expect({ code, asked }).toEqual({ code: 1, asked: 2 })
    expect(out.match(/✖ .*no such key/g)).toHaveLength(2)
  })

  test("is 0 when a real provider answers", async () => {
    const { args, close } = await serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const chunk = (choice: object, more: object = {}): string =>
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, ...choice }], ...more })}\n\n`
      response.write(chunk({ delta: { role: "assistant", content: "Good " } }))
      response.write(chunk({ delta: { content: "morning." } }))
      const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
      response.end(`${chunk({ delta: {}, finish_reason: "stop" }, { usage })}data: [DONE]\n\n`)
    })
    const { code, out, err } = await runHere("hello\n", { args })
    close()
    expect(out).toMatch(/› hello\nGood morning\.\n {2}1 model request · 7 tokens in, 3 out · /)
    expect({ code, err }).toEqual({ code: 0, err: "" })
  })
})
