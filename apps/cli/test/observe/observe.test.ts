import { createServer } from "node:http"
import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { Fake, type RunningTroupe, tool, Troupe } from "@troupe/chat"
import * as Node from "@troupe/server/Node"
import * as Server from "@troupe/server/Server"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { observe } from "../../src/observe/observe.ts"
import { plainPaint } from "../../src/output/paint.ts"
import { runHere, runProcess } from "../double/programRun.ts"

const hang = tool({ name: "hang", execute: () => new Promise(() => {}) })

let troupe: RunningTroupe
let listening: Node.Listening

beforeEach(async () => {
  const script: Fake.Script = [{ toolCall: { id: "t1", name: "hang", arguments: {} } }, { finish: "tool_calls" }]
  troupe = await Troupe.start({ adapter: Fake.make({ script }), tools: [hang], drainMs: 10 })
  listening = await Node.listen(
    Server.make({
      troupe,
      authorize: (request) => {
        const who = request.headers.get("authorization")
        return who === "nobody" ? { deny: 401 } : { owner: "anna", may: { observe: who !== "bob" } }
      }
    })
  )
})

afterEach(async () => {
  await listening.close()
  await troupe.stop()
})

/** Somebody at a terminal of their own. */
class Person {
  readonly keys = Object.assign(new PassThrough(), { isTTY: true, raw: [] as Array<boolean> })
  readonly screen = Object.assign(new PassThrough(), { columns: 100, rows: 40, isTTY: true })
  readonly signal = new AbortController()
  readonly left: Promise<void>
  written = ""
  #frame = ""
  #changed = (): void => {}

  constructor(url: string) {
    Object.assign(this.keys, { setRawMode: (raw: boolean) => this.keys.raw.push(raw) })
    this.screen.on("data", (chunk: Buffer) => {
      this.written += chunk.toString()
      this.#frame = stripVTControlCharacters(chunk.toString())
      this.#changed()
    })
    const surroundings = { input: this.keys, output: this.screen, paint: plainPaint, signal: this.signal.signal }
    this.left = observe({ url, headers: {}, once: false }, surroundings)
  }

  type(keys: string): void {
    this.keys.write(keys)
  }

  /** Resolves with the first frame that holds the text. */
  async sees(text: string): Promise<string> {
    while (!this.#frame.includes(text)) await new Promise<void>((resolve) => (this.#changed = resolve))
    return this.#frame
  }
}

describe("at a terminal", () => {
  let person: Person

  beforeEach(() => {
    person = new Person(listening.url)
  })

  afterEach(async () => {
    person.signal.abort()
    await person.left
  })

  test("the tree is live, and the chosen process and the timeline of its chat are shown", async () => {
    await person.sees("▸ Troupe")
    const chat = await troupe.chat("anna/c1")
    chat.send("Please go")
    await person.sees("ToolCall hang")
    person.type("\u001b[F")
    await person.sees("▸       └─ ToolCall hang")
    const frame = await person.sees("toolCall: running")
    expect(frame).toContain("state")
    await person.sees("turn Please go")
    await person.sees("call hang")
  })

  test("OBST2 a kill asks first, and the process that takes its place is chosen", async () => {
    const chat = await troupe.chat("anna/c1")
    const before = String(chat.pid)
    await person.sees(`Chat anna/c1 ${before}`)
    person.type("\u001b[F")
    await person.sees(`└─ Chat anna/c1 ${before}`)
    person.type("k")
    await person.sees(`Kill Chat anna/c1 ${before}?`)
    person.type("n")
    await person.sees("k kill")
    person.type("k")
    await person.sees("y kills")
    person.type("y")
    const frame = await person.sees("1 restarts")
    expect(frame).not.toContain(`└─ Chat anna/c1 ${before}`)
    await person.sees("▸    └─ Chat anna/c1")
    expect(String(chat.pid)).not.toBe(before)
  })

  test.each(["q", "\u0003", "\u0004"])("OBST3 leaving by key gives the terminal back as it was", async (key) => {
    await person.sees("▸ Troupe")
    person.type(key)
    await person.left
    expect(person.written.startsWith("\u001b[?1049h\u001b[?25l")).toBe(true)
    expect(person.written.endsWith("\u001b[?25h\u001b[?1049l")).toBe(true)
    expect(person.keys.raw).toEqual([true, false])
    expect(person.keys.listenerCount("keypress")).toBe(0)
  })

  test("a server that goes away is waited for", async () => {
    await person.sees("▸ Troupe")
    await listening.close()
    expect(await person.sees("tried again")).toContain("▸ Troupe")
  })
})

describe("the program", () => {
  test("--once prints the tree and ends", async () => {
    await troupe.chat("anna/c1")
    const { code, out, err } = await runProcess("", { args: ["observe", listening.url, "--once"] })
    expect([code, err]).toEqual([0, ""])
    const lines = out.replaceAll(/<0\.\d+\.0>/g, "<>").replaceAll(/[\d.]+ kB/g, "kB")
    expect(lines).toBe(
      [
        "5 processes, 0 crashes, 0 restarts, 0 zombies, 0 dead letters",
        "Troupe <> idle, kB",
        "├─ Registry <> idle, kB",
        "├─ Store <> idle, kB",
        "└─ ChatSupervisor <> idle, kB",
        "   └─ Chat anna/c1 <> idle, kB",
        ""
      ].join("\n")
    )
  })

  test("without a terminal each change is a line", async () => {
    let isStarted = false
    const { code, out } = await runHere("", {
      args: ["observe", listening.url],
      onOutput: (printed, end) => {
        if (printed.includes("processes") && !isStarted) {
          isStarted = true
          void troupe.chat("anna/c1")
        }
        if (printed.includes("+ Chat anna/c1")) end()
      }
    })
    expect(code).toBe(0)
    expect(out).toMatch(/^\d\d:\d\d:\d\d\.\d{3} \+ Chat anna\/c1 <0\.\d+\.0>( of c1)?$/m)
  })

  test("a server that is not there, that refuses, or that is none is said so in one line", async () => {
    const other = createServer((_request, response) => response.writeHead(404).end("nothing here"))
    await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve))
    const address = other.address()
    const port = typeof address === "object" ? address?.port : 0
    const nowhere = "http://127.0.0.1:1"
    const run = (args: ReadonlyArray<string>) => runHere("", { args: ["observe", ...args] })
    const refusals = await Promise.all([
      run([nowhere]),
      run([`http://127.0.0.1:${port}`]),
      run([listening.url, "-H", "authorization: bob"]),
      run([listening.url, "-H", "authorization: nobody"]),
      run(["not-a-url"]),
      run([listening.url, "-H", "no header"])
    ])
    other.close()
    expect(refusals.map(({ code, out }) => `${code}${out}`)).toEqual(["1", "1", "1", "1", "1", "1"])
    expect(refusals.map(({ err }) => err)).toEqual([
      `observe: no server answers at ${nowhere}: start one, or name another with observe <url>\n`,
      `observe: http://127.0.0.1:${port} is no Troupe server, or its paths begin elsewhere\n`,
      `observe: ${listening.url} lets nobody observe but whom its authorize permits it with may: { observe: true }\n`,
      `observe: ${listening.url} requires authorization: --header "authorization: Bearer …"\n`,
      'observe: observe needs an http(s) URL, not "not-a-url"\n',
      'observe: --header must be "name: value", not "no header"\n'
    ])
  })
})
