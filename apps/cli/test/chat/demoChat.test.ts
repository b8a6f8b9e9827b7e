import { join } from "node:path"
import { Message } from "@troupe/chat/messages"
import { expect, test, vi } from "vitest"
import { scriptedModel } from "@troupe/scripted"
import { runCommand } from "../../src/chat/commands.ts"
import { startDemoChat } from "../../src/chat/demoChat.ts"
import { appendingDisplay } from "../../src/output/display.ts"
import { plainPaint } from "../../src/output/paint.ts"
import { reportTurn } from "../../src/output/turnReport.ts"

test("DEMO1 without its file server the chat goes on, and says why", async () => {
  const folder = join(import.meta.dirname, "no such folder")
  const notices: Array<string> = []
  const adapter = scriptedModel({ folder, wordDelayMs: 0 })
  const demo = await startDemoChat({ adapter, folder, onNotice: (text) => notices.push(text) })
  expect(demo.hasFiles).toBe(false)
  expect(notices).toEqual([expect.stringMatching(/^no files: .*None of the specified directories are accessible/)])
  for await (const event of demo.send("what is 6 * 7")) expect(event.type).not.toBe("error")
  expect(demo.messages().at(-1)).toMatchObject({ role: "assistant", content: "6 * 7 = 42" })
  await demo.stop()
})

test("DEMO2 after stop nothing can be asked", async () => {
  const adapter = scriptedModel({ folder: import.meta.dirname, wordDelayMs: 0 })
  const demo = await startDemoChat({ adapter, folder: import.meta.dirname, onNotice: () => {} })
  expect(demo.tree()).toContain("MCP files")
  await demo.stop()
  expect(demo.tree()).toBe("")
})

/** A chat without files, which starts faster. */
const withoutFiles = () => {
  const adapter = scriptedModel({ folder: import.meta.dirname, wordDelayMs: 0 })
  return startDemoChat({ adapter, folder: undefined, onNotice: () => {} })
}

test("DEMO3 a turn that is refused fails when it is read", async () => {
  const demo = await withoutFiles()
  const turn = demo.retry()
  await expect(turn[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: "nothing_to_retry" })
  await demo.stop()
})

test("DEMO4 a chat killed more often than its supervisor puts up with comes back every time, with its thread", async () => {
  const demo = await withoutFiles()
  for await (const _event of demo.send("what is 6 * 7"));
  const pids = new Set<string | undefined>()
  for (let kills = 0; kills < 9; kills++) {
    const { before, after, messages } = await demo.kill()
    expect(messages).toBe(4)
    expect(demo.tree()).toContain(`Chat demo ${after}`)
    pids.add(before).add(after)
  }
  expect(pids).not.toContain(undefined)
  expect(pids.size).toBe(10)
  for await (const event of demo.send("what is 6 * 8")) expect(event.type).not.toBe("error")
  expect(demo.messages().at(-1)).toMatchObject({ role: "assistant", content: "6 * 8 = 48" })
  await demo.stop()
})

test("DEMO4 without a process there is nothing to kill, and /kill says so", async () => {
  const demo = await withoutFiles()
  const killing = demo.kill()
  const printed: Array<string> = []
  await runCommand("/kill", { demo, paint: plainPaint, print: (text) => printed.push(text) })
  expect(printed).toEqual(["? there is no chat process to kill; the next question starts it again"])
  expect((await killing).after).toBeDefined()
  await demo.stop()
})

test("a team works side by side, shows its work, and goes on with the answer of a person", async () => {
  const demo = await withoutFiles()
  let text = ""
  const display = appendingDisplay((written) => (text += written))
  const surroundings = { display, paint: plainPaint, elapsedMs: () => undefined, now: () => 0 }
  expect(await reportTurn(demo.send("research Oslo with the team"), surroundings)).toBe("question")
  expect(text).toContain('  researcher ✔ weather(city: "Oslo") →')
  expect(text).toContain("  researcher ? Who visits Oslo, and for how long?\n")
  expect(demo.waitsForAnswer()).toBe(true)
  expect(await reportTurn(demo.send("tomorrow, for two"), surroundings)).toBe("completed")
  expect(demo.waitsForAnswer()).toBe(false)
  const answer = demo.messages().slice(-1).map(Message.text)
  expect(answer).toEqual([expect.stringContaining("The researcher for “Research the weather in Oslo.” says")])
  expect(answer).toEqual([expect.stringContaining("tomorrow, for two")])
  await demo.stop()
})

test("a scout in the background says how far it is, goes where it is sent, asks a person, and reports the corrected result", async () => {
  const notices: Array<string> = []
  const adapter = scriptedModel({ folder: import.meta.dirname, wordDelayMs: 0 })
  const demo = await startDemoChat({ adapter, folder: undefined, onNotice: (text) => notices.push(text) })
  const noticed = (text: RegExp) =>
    vi.waitFor(() => expect(notices).toContainEqual(expect.stringMatching(text)), { timeout: 20_000 })
  const last = () => demo.messages().slice(-1).map(Message.text)
  for await (const _event of demo.send("scout Oslo in the background"));
  expect(last()).toEqual([expect.stringContaining("The scout is on its way")])
  for await (const _event of demo.send("ask the scout how far it is"));
  expect(last()).toEqual(['Your message to the scout is "pending".'])
  await noticed(/^The scout says: I have looked at \d places of Oslo, and go on\.$/u)
  for await (const _event of demo.send("send the scout to Bergen"));
  await noticed(/^scout asks: Who comes to Bergen, and for how long\?$/u)
  expect(demo.waitsForAnswer()).toBe(true)
  for await (const _event of demo.send("two of us, for a day"));
  await noticed(/^The scout is back: My notes on Bergen: .*“two of us, for a day”\.$/u)
  expect(demo.waitsForAnswer()).toBe(false)
  await demo.stop()
})

test("a call that may change something waits for a decision", async () => {
  const demo = await withoutFiles()
  for await (const _event of demo.send("charge 20 dollars"));
  expect(demo.decision()).toBe("May charge(dollars: 20) run? Answer yes, or say why not.")
  for await (const _event of demo.send("not today"));
  expect(demo.messages().at(-1)).toMatchObject({ content: expect.stringContaining("not today") })
  for await (const _event of demo.send("charge 20 dollars"));
  for await (const _event of demo.send("yes"));
  expect(demo.messages().at(-1)).toMatchObject({ content: "charge says: charged 20 dollars" })
  expect(demo.waitsForAnswer()).toBe(false)
  await demo.stop()
})
