import { Chat, Engine, Fake } from "@troupe/chat"
import type { ChatOptions } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import { scriptedModel, tools } from "@troupe/scripted"
import { describe, expect, test } from "vitest"
import { appendingDisplay } from "../../src/output/display.ts"
import { plainPaint } from "../../src/output/paint.ts"
import { reportTurn, type TurnEnd } from "../../src/output/turnReport.ts"

const scripted = scriptedModel({ folder: "/home/ada", wordDelayMs: 0 })

/** What a turn looks like when all time stands still. */
const shown = async (
  said: string,
  adapter = scripted,
  options: ChatOptions = {}
): Promise<{ readonly end: TurnEnd; readonly text: string }> => {
  let text = ""
  const turn = await Chat.stream(Engine.make({ adapter, tools }), [Message.user(said)], options)
  const display = appendingDisplay((written) => (text += written))
  const end = await reportTurn(turn, { display, paint: plainPaint, elapsedMs: () => undefined, now: () => 0 })
  return { end, text }
}

describe("a turn on the display", () => {
  test("is its calls, its answer and what it cost", async () => {
    expect(await shown("what is 12 * (3+4)")).toEqual({
      end: "completed",
      text: [
        '✔ calculate(expression: "12 * (3+4)") → 84',
        "12 * (3+4) = 84",
        "  2 model requests · 11 tokens in, 5 out · 0 ms",
        ""
      ].join("\n")
    })
  })

  test("shows calls of one batch as they end", async () => {
    const { end, text } = await shown("what is 1+1 and what is 1/0")
    expect(end).toBe("completed")
    expect(text).toContain('✔ calculate(expression: "1+1") → 2\n')
    expect(text).toContain('✖ calculate(expression: "1/0") failed: Division by zero\n')
  })

  test("shows a crash as that call's error", async () => {
    const { end, text } = await shown("crash a tool")
    expect(end).toBe("completed")
    expect(text).toContain("crashed: the handler of crash raised: the tool broke, as asked")
    expect(text).toContain("the chat goes on")
  })

  test("ends with a tool's question", async () => {
    const { end, text } = await shown("book a table")
    expect(end).toBe("question")
    expect(text).toContain("? Before I can book a table: for when, and for how many?\n")
  })

  test("has failed when the provider refuses, and says why once", async () => {
    const adapter = Fake.make({ script: [{ error: "rate_limited" }, { finish: "error" }] })
    const { end, text } = await shown("hello", adapter)
    expect(end).toBe("failed")
    expect(text.match(/rate limited/g)).toHaveLength(1)
  })

  test.each([
    ["1+1", "3 replies in a row changed nothing; say what to do instead"],
    ["1/0", "All tool calls of 3 replies in a row failed; say what to do instead"]
  ])("has failed when a model goes on calculating %s, and says why", async (expression, why) => {
    const call = { toolCall: { id: "c1", name: "calculate", arguments: { expression } } }
    const adapter = Fake.make({ script: [call, { finish: "tool_calls" }] })
    const { end, text } = await shown("calculate", adapter, { maxMistakes: 3, maxUnproductive: 3 })
    expect(end).toBe("failed")
    expect(text).toContain(why)
  })

  test("has failed when its chat dies", async () => {
    let text = ""
    const dying = (async function* () {
      yield { type: "text_delta", id: null, delta: "half an ans" } as const
      throw new Error("the chat process died")
    })()
    const display = appendingDisplay((written) => (text += written))
    const end = await reportTurn(dying, { display, paint: plainPaint, elapsedMs: () => undefined, now: () => 0 })
    expect(end).toBe("failed")
    expect(text).toBe("half an ans\n✖ the chat process died\n")
  })

  test("lets no text from outside steer the terminal", async () => {
    const adapter = Fake.make({ script: [{ text: "red \u001b[31malert" }, { finish: "stop" }] })
    expect((await shown("hello", adapter)).text).toContain("red alert\n")
  })
})
