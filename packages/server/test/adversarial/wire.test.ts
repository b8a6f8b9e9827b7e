import { tool } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { Process } from "@troupe/otp"
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai"
import { describe, expect, it } from "vitest"
import { seedsOf } from "../../../../tooling/verify/volume.ts"
import { seeded } from "../double/attacks.ts"
import { type HandModel, handModel } from "../double/handModel.ts"
import { serving } from "../double/serving.ts"
import { streamOf } from "../double/streamOf.ts"

const said = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] })

const chunksOf = (body: string): ReadonlyArray<UIMessageChunk> =>
  body
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"))
    .map((frame) => JSON.parse(frame.slice("data: ".length)) as UIMessageChunk)

const messageOf = async (body: string): Promise<UIMessage | undefined> => {
  let last: UIMessage | undefined
  for await (const next of readUIMessageStream({ stream: streamOf(chunksOf(body)) })) last = next
  return last === undefined ? undefined : (JSON.parse(JSON.stringify(last)) as UIMessage)
}

const kept = async (url: string) => {
  const { messages } = (await (await fetch(`${url}/api/chat/c/messages`)).json()) as {
    readonly messages: ReadonlyArray<UIMessage>
  }
  return messages.at(-1)
}

const until = async (response: Response, text: string): Promise<void> => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let body = ""
  while (!body.includes(text)) {
    const next = await reader?.read()
    if (next === undefined || next.done) throw new Error(`the body ended without ${text}: ${body}`)
    body += next.value
  }
  await reader?.cancel()
}

describe("a reply is found again", () => {
  it("AISDK3. by clients that come and go at random, as the one that stayed has it", async () => {
    for (const seed of seedsOf(6)) {
      const chance = seeded(seed)
      const model = handModel()
      const { url, post } = await serving({
        adapter: model.adapter,
        tools: [tool({ name: "echo", execute: (args) => args })]
      })
      const stayed = await post("/api/chat", { id: "c", messages: [said("u1", "Go")] })
      await model.whenOpened(1)
      const late: Array<Promise<string>> = []
      for (let step = 0; step < 4; step++) {
        let text = ""
        for (let word = 0; word < 3; word++) {
          text += `w${word} `
          model.text(`w${word} `)
          const response = await fetch(`${url}/api/chat/c/stream`)
          expect(response.status).toBe(200)
          if (chance() < 0.5) late.push(response.text())
          else await until(response, '"start-step"')
        }
        if (step === 3) model.finish("stop", text)
        else {
          model.say({ type: "tool_call_started", id: `c${step}`, name: "echo" })
          model.say({
            type: "tool_call_completed",
            id: `c${step}`,
            name: "echo",
            arguments: { step },
            rawArguments: ""
          })
          model.finish("tool_calls", text)
          await model.whenOpened(step + 2)
        }
      }
      const whole = await messageOf(await stayed.text())
      expect(whole?.parts.filter(({ type }) => type === "tool-echo").length).toBe(3)
      expect(await kept(url)).toEqual(whole)
      for (const body of await Promise.all(late)) expect(await messageOf(body)).toEqual(whole)
    }
  })

  it("AISDK3. where its beginning is no longer held, from what is kept and what is under way", async () => {
    const model = handModel()
    const { url, post } = await serving({
      adapter: model.adapter,
      tools: [tool({ name: "echo", execute: (args) => args })]
    })
    const stayed = await post("/api/chat", { id: "c", messages: [said("u1", "Go")] })
    await model.whenOpened(1)
    const first = await fetch(`${url}/api/chat/c/stream`)
    model.say({ type: "tool_call_started", id: "c0", name: "echo" })
    model.say({ type: "tool_call_completed", id: "c0", name: "echo", arguments: { x: 1 }, rawArguments: "" })
    model.finish("tool_calls")
    await model.whenOpened(2)
    const long = "x".repeat(2_000_000)
    for (let at = 0; at < long.length; at += 100_000) model.text(long.slice(at, at + 100_000))
    await until(await fetch(`${url}/api/chat/c/stream`), "x".repeat(50_000))
    const later = await fetch(`${url}/api/chat/c/stream`)
    model.text("y")
    model.finish("stop", `${long}y`)
    const whole = await messageOf(await stayed.text())
    expect(whole?.parts.map((part) => (part.type === "text" ? part.text.length : part.type))).toEqual([
      "step-start",
      "tool-echo",
      "step-start",
      2_000_001
    ])
    expect(await messageOf(await later.text())).toEqual(whole)
    expect(await messageOf(await first.text())).toEqual(whole)
  })
})

describe("the death of a chat's process", () => {
  const died = async (model: HandModel, follow: (url: string) => Promise<Response>) => {
    const { url, post, troupe } = await serving({ adapter: model.adapter })
    const posted = await post("/api/chat", { id: "c", messages: [said("u1", "Go")] })
    await model.whenOpened(1)
    model.text("Once ")
    const followed = await follow(url)
    const { pid } = await troupe.chat("anna/c")
    if (pid === undefined) throw new Error("no process")
    Process.exit(pid, new Error("a secret of the program"))
    return { url, post, bodies: [await posted.text(), await followed.text()] }
  }

  it("ends the streams of its turn with an end of their protocol, and nothing of the program", async () => {
    const { bodies } = await died(handModel(), (url) => fetch(`${url}/api/chat/c/stream`))
    for (const body of bodies) {
      expect(body).not.toContain("secret")
      expect(body).toMatch(/"type":"(?:error|finish)"/u)
      expect(body.endsWith("data: [DONE]\n\n")).toBe(true)
    }
    const { bodies: others } = await died(handModel(), (url) =>
      fetch(`${url}/ag-ui`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ threadId: "c", runId: "r", messages: [] })
      })
    )
    expect(others[1]).not.toContain("secret")
    expect(others[1]).toMatch(/"type":"RUN_(?:ERROR|FINISHED)"[^\n]*\n\n$/u)
  })

  it("leaves a reply that is given again", async () => {
    const model = handModel()
    const { url, post } = await died(model, (at) => fetch(`${at}/api/chat/c/stream`))
    const again = post("/api/chat", { id: "c", trigger: "regenerate-message", messages: [said("u1", "Go")] })
    await model.whenOpened(2)
    model.finish("stop", "There")
    expect((await messageOf(await (await again).text()))?.parts.at(-1)).toMatchObject({ text: "There" })
    expect(await kept(url)).toMatchObject({ id: "u1.reply.2" })
  })
})

describe("the end of a program in the middle of a reply", () => {
  it("leaves what was said, and the reply is given again when it is asked for", async () => {
    const store = Store.memory()
    const before = handModel()
    const first = await serving({ adapter: before.adapter, store, draftEveryMs: 1 })
    const cut = await first.post("/api/chat", { id: "c", messages: [said("u1", "Go")] })
    await before.whenOpened(1)
    before.text("Once upon ")
    await expect.poll(async () => (await store.load("anna/c"))?.draft).toBe("Once upon ")

    const after = handModel()
    const { url, post } = await serving({ adapter: after.adapter, store })
    expect((await fetch(`${url}/api/chat/c/stream`)).status).toBe(204)
    expect(await kept(url)).toMatchObject({ id: "u1.reply", parts: [{ type: "step-start" }, { text: "Once upon " }] })
    const repeated = await (await post("/api/chat", { id: "c", messages: [said("u1", "Go")] })).text()
    expect(chunksOf(repeated).at(-1)).toEqual({ type: "finish", finishReason: "other" })
    const again = post("/api/chat", { id: "c", trigger: "regenerate-message", messages: [said("u1", "Go")] })
    await after.whenOpened(1)
    after.finish("stop", "The end")
    expect((await messageOf(await (await again).text()))?.id).toBe("u1.reply.2")
    expect((await kept(url))?.parts.at(-1)).toMatchObject({ text: "The end" })
    await cut.body?.cancel()
  })
})
