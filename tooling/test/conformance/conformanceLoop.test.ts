import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { deviations } from "../../conformance/deviations/deviations.ts"
import { dispatchSuite } from "../../conformance/dispatch/dispatchSuite.ts"
import { runSuite } from "../../conformance/runner/runSuite.ts"

const nothing = { status: "nothing", detail: "" }

/** How a case ends: its status, and what is said of it. */
const statusOf = async (when: object, given: object, expected: object): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "loop-cases-"))
  const [name, then] = ["then", expected]
  writeFileSync(join(folder, "c.json"), JSON.stringify([{ id: "C-1", given, when, [name]: then }]))
  try {
    const [{ status, detail } = nothing] = await runSuite(dispatchSuite, deviations, folder)
    return detail === "" ? status : `${status}: ${detail}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const go = { runLoop: "go" }
const calling = (...names: ReadonlyArray<string>) => ({ text: "t", calls: names.map((name) => ({ id: name, name })) })

describe("a case of a whole run", () => {
  test.each([
    ["an answer", { model: [{ text: "hello" }] }, { finish: "stop", text: "hello", iterations: 0, providerCalls: 1 }],
    [
      "calls, then an answer",
      { model: [calling("ok_w", "ok_safe"), { text: "bye" }] },
      {
        messages: ["user", "assistant:t", "tool ok_w", "tool:ok_safe", "assistant:bye"],
        iterations: 1,
        toolCallsMade: 2,
        okIds: ["ok_w", "ok_safe"]
      }
    ],
    [
      "mistakes",
      { model: [calling("nowhere")], options: { maxMistakes: 2 } },
      { finish: "error_consecutive_mistakes", iterations: 2, category: "capacity" }
    ],
    [
      "nothing new",
      { model: "identical call forever", options: { maxUnproductive: 2 } },
      { finish: "error_no_progress", iterations: 3 }
    ],
    [
      "hooks",
      { model: [{ text: "bye" }], hooks: { UserPromptSubmit: [{ halt: "no" }], Stop: "spy", StopFailure: "spy" } },
      { finish: "error_halted", halted: "no", events: ["done"], fired: ["StopFailure"], notFired: ["Stop"] }
    ]
  ])("passes where it holds: %s", async (_name, given, expected) => {
    expect(await statusOf(go, given, expected)).toBe("passed")
  })

  test("fails where it does not hold", async () => {
    expect(await statusOf(go, { model: [{ text: "hello" }] }, { finish: "submitted" })).toBe(
      'failed: finish: "stop" instead of "submitted"'
    )
    expect(await statusOf(go, { model: [calling("ok_w")] }, { messages: ["user:go"] })).toMatch(
      /^failed: messages: has/
    )
  })

  test("deviates where a decision says so, and only there", async () => {
    const given = { tools: [{ name: "stop", halt: "enough" }], model: [calling("stop")] }
    const unanswered = { finish: "error_halted", messages: ["user:go", "assistant:t (unanswered)"] }
    expect(await statusOf(go, given, unanswered)).toMatch(/^deviates: halts/)
    expect(await statusOf(go, given, { ...unanswered, providerCalls: 9 })).toMatch(/^failed/)
  })

  test("is not examined where it speaks of another loop", async () => {
    expect(await statusOf(go, { mode: "orchestrate" }, {})).toMatch(/^unexamined/)
  })
})

test("a case of usage adds it up, and asks the loop whether a bound is reached", async () => {
  expect(await statusOf({ add: [{ in: 1 }, { in: 2, cost: 0.5 }] }, {}, { usage: { in: 3 }, cost: 0.5 })).toBe("passed")
  expect(await statusOf({ exceededFor: [1, 3, null] }, { cost: 2 }, { results: [true, false, false] })).toBe("passed")
})
