/** Tool results with images in a real file: after the end of the program, in the log, in forks and in views. */
import { Fake, tool, Troupe } from "@troupe/chat"
import type { ContentPart } from "@troupe/chat/messages"
import { ChatView } from "@troupe/chat/view"
import { afterAll, expect, test } from "vitest"
import { sqlite } from "../src/index.ts"
import { Folder } from "./double/folder.ts"
import { run, source } from "./double/programs.ts"

const folder = new Folder()
afterAll(() => folder[Symbol.dispose]())

const image = { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" } } as const
const parts: ReadonlyArray<ContentPart> = [{ type: "text", text: "The page" }, image]

/** A program that ends with `SIGKILL` when the result of `shot` is in its file, while `charge` still runs. */
const killed = `
  const { Fake, tool, Troupe } = await import(${JSON.stringify(import.meta.resolve("@troupe/chat"))})
  const { sqlite } = await import(${JSON.stringify(source)})
  const [, file, parts] = process.argv
  const store = sqlite(file)
  const append = store.append.bind(store)
  store.append = async (...args) => {
    const record = await append(...args)
    if (record.thread.messages.some(({ role }) => role === "tool")) process.kill(process.pid, "SIGKILL")
    return record
  }
  const shot = tool({ name: "shot", execute: () => JSON.parse(parts) })
  const charge = tool({ name: "charge", execute: () => new Promise(() => setInterval(() => {}, 1_000)) })
  const adapter = Fake.make({
    scripts: [
      [
        { toolCall: { id: "c1", name: "shot", arguments: {} } },
        { toolCall: { id: "c2", name: "charge", arguments: {} } },
        { finish: "tool_calls" }
      ]
    ]
  })
  const troupe = await Troupe.start({ adapter, tools: [shot, charge], store, schedule: "concurrent" })
  const chat = await troupe.chat("a")
  await chat.send("Look, and pay").result()
`

test("JOUR5 TPART2 an image that a call returned before the end of the program is in the conversation after it", async () => {
  const file = folder.file()
  expect(await run(killed, file, JSON.stringify(parts))).toBe("")
  const adapter = Fake.make({
    scripts: [
      [{ text: "Seen." }, { finish: "stop" }],
      [{ text: "Again." }, { finish: "stop" }]
    ]
  })
  const shot = tool({ name: "shot", execute: () => "not again" })
  const charge = tool({ name: "charge", onUnknown: "fail", execute: () => "not again" })
  const store = sqlite(file)
  const troupe = await Troupe.start({ adapter, tools: [shot, charge], store })
  const chat = await troupe.chat("a")
  await chat.retry().result()
  const results = chat.thread.messages.filter(({ role }) => role === "tool")
  expect(results).toEqual([
    { role: "tool", toolCallId: "c1", content: parts, outcome: "completed" },
    expect.objectContaining({ toolCallId: "c2", outcome: "unknown" })
  ])
  expect(adapter.requests[0]?.messages).toContainEqual(results[0])

  const fork = await troupe.fork("a", { id: "b" })
  await fork.send("And now?").result()
  expect(adapter.requests[1]?.messages).toContainEqual(results[0])
  const view = await chat.view()
  expect(JSON.parse(JSON.stringify(view)).messages).toContainEqual(results[0])
  const before = { ...view, messages: view.messages.slice(0, 2) }
  const patch = ChatView.patch(before, view)
  expect(ChatView.apply(before, JSON.parse(JSON.stringify(patch)))).toEqual(view)
  await troupe.stop()
  await store.close()
})
