import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { scriptedModel } from "@troupe/scripted"
import { type DemoChat, startDemoChat } from "../../src/chat/demoChat.ts"
import { plainPaint } from "../../src/output/paint.ts"
import { runTerminal } from "../../src/chat/terminal.ts"

const ctrlC = "\u0003"
const ctrlD = "\u0004"

/** A person at a terminal of their own: types keys, and waits until something is to be seen. */
class Person {
  readonly keys = new PassThrough()
  readonly screen = Object.assign(new PassThrough(), { columns: 100, rows: 40 })
  readonly signal = new AbortController()
  readonly left: Promise<void>
  #seen = ""
  #changed = (): void => {}

  constructor(demo: DemoChat) {
    this.screen.on("data", (chunk: Buffer) => {
      this.#seen += stripVTControlCharacters(chunk.toString())
      this.#changed()
    })
    const surroundings = { demo, input: this.keys, output: this.screen, paint: plainPaint, signal: this.signal.signal }
    this.left = runTerminal({ ...surroundings, onScreen: () => {} })
  }

  type(keys: string): void {
    this.#seen = ""
    this.keys.write(keys)
  }

  /** Resolves with what was seen since the last keys, once it holds the text. */
  async sees(text: string): Promise<string> {
    while (!this.#seen.includes(text)) await new Promise<void>((resolve) => (this.#changed = resolve))
    return this.#seen
  }

  async asks(line: string, answer: string): Promise<string> {
    this.type(`${line}\r`)
    const seen = await this.sees(answer)
    return seen
  }
}

let demo: DemoChat
let person: Person

beforeEach(async () => {
  const adapter = scriptedModel({ folder: import.meta.dirname, wordDelayMs: 1 })
  demo = await startDemoChat({ adapter, folder: undefined, onNotice: () => {} })
  person = new Person(demo)
  await person.sees("›")
})

afterEach(async () => {
  person.signal.abort()
  await person.left
  await demo.stop()
})

describe("the chat at a terminal", () => {
  test("shows the question, the calls and the answer", async () => {
    const seen = await person.asks("what is 6 * 7", "model requests")
    expect(seen).toContain("what is 6 * 7\r\n")
    expect(seen).toContain('✔ calculate(expression: "6 * 7") → 42')
    expect(seen).toContain("6 * 7 = 42")
  })

  test("asks back, and the next line answers", async () => {
    await person.asks("book a table", "answer ›")
    expect(await person.asks("at eight", "model request")).toContain('You answered my question with "at eight"')
  })

  test("TERM1 a line typed during a turn is answered after it", async () => {
    await person.asks("wait for 1 seconds", "slow_job")
    await person.asks("what is 6 * 7", "(next)")
    const seen = await person.sees("6 * 7 = 42")
    expect(seen.indexOf("worked for 1 seconds")).toBeGreaterThan(0)
    expect(seen.indexOf("worked for 1 seconds")).toBeLessThan(seen.indexOf('calculate(expression: "6 * 7")'))
  })

  test("TERM1 a command about the system is obeyed during a turn", async () => {
    await person.asks("run the slow tool", "slow_job")
    expect(await person.asks("/tree", "ToolCall slow_job")).toContain("ChatSupervisor")
  })

  test("TERM2 Ctrl-C cancels the turn and keeps the chat", async () => {
    await person.asks("run the slow tool", "slow_job")
    person.type(ctrlC)
    await person.sees("■ cancelled; the chat goes on")
    await person.sees("model request")
    expect(await person.asks("what is 6 * 7", "6 * 7 = 42")).not.toContain("cancelled")
  })

  test("TERM2 Ctrl-C cancels an answer in the middle of its text", async () => {
    await person.asks("hello", "Hello!")
    person.type(ctrlC)
    await person.sees("■ cancelled; the chat goes on")
    await person.sees("model request")
    expect(await person.asks("what is 6 * 7", "6 * 7 = 42")).not.toContain("cancelled")
  })

  test("TERM3 Ctrl-C at the prompt clears the line, warns, then leaves", async () => {
    person.type("half a line")
    await person.sees("half a line")
    person.type(ctrlC)
    person.type(ctrlC)
    expect(await person.sees("Ctrl-C again")).not.toContain("model request")
    person.type(ctrlC)
    await expect(person.left).resolves.toBeUndefined()
  })

  test("/retry before anything was said says so, and the chat goes on", async () => {
    await person.asks("/retry", "✖ Nothing was said yet in the chat")
    expect(await person.asks("what is 6 * 7", "6 * 7 = 42")).not.toContain("✖")
  })

  test("/kill crashes the chat, and it is there again with its thread", async () => {
    await person.asks("what is 6 * 7", "model requests")
    const seen = await person.asks("/kill", "its supervisor started it again")
    expect(seen).toMatch(/killed the chat process <0\.\d+\.0>/)
    await person.sees("with the 4 messages of its thread")
    expect(await person.asks("/retry", "6 * 7 = 42")).not.toContain("failed")
  })

  test("/kill during a turn ends the turn, and /retry goes on", async () => {
    await person.asks("wait for 1 seconds", "slow_job")
    await person.asks("/kill", "its supervisor started it again")
    await person.sees("died in the middle of a turn")
    expect(await person.asks("/retry", "The slow job is done")).toContain("worked for 1 seconds")
  })

  test.each([
    ["/quit", "/quit\r"],
    ["Ctrl-D", ctrlD]
  ])("TERM4 %s leaves, also during a turn", async (_name, keys) => {
    await person.asks("run the slow tool", "slow_job")
    person.type(keys)
    await expect(person.left).resolves.toBeUndefined()
  })

  test("TERM4 a signal leaves", async () => {
    person.signal.abort()
    await expect(person.left).resolves.toBeUndefined()
  })
})
