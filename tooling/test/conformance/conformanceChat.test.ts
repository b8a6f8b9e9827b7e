import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { chatSuite } from "../../conformance/chat/chatSuite.ts"
import { deviations } from "../../conformance/deviations/deviations.ts"
import { differences } from "../../conformance/runner/matching.ts"
import { reportOf, runSuite } from "../../conformance/runner/runSuite.ts"

const nothing = { status: "nothing", detail: "" }

const folders: Array<string> = []

const folderOf = (...cases: ReadonlyArray<object>): string => {
  const folder = mkdtempSync(join(tmpdir(), "chat-cases-"))
  folders.push(folder)
  writeFileSync(join(folder, "cases.json"), JSON.stringify({ area: "any", format: 1, cases }))
  return folder
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const keyed = (key: string, value: unknown): object => ({ [key]: value })

const caseOf = (id: string, when: string, given: unknown, expected: unknown, more: object = {}): object => ({
  id,
  when,
  given,
  ...keyed("then", expected),
  ...more
})

const statusOf = async (when: string, given: unknown, expected: unknown, more: object = {}): Promise<string> => {
  const [{ status, detail } = nothing] = await runSuite(
    chatSuite,
    deviations,
    folderOf(caseOf("a/b", when, given, expected, more))
  )
  return detail === "" ? status : `${status}: ${detail}`
}

const reported = async (path: string) => reportOf(await runSuite(chatSuite, deviations, path))

const hi = { role: "user", content: "hi" }
const echo = { name: "echo", handler: { echo_args: true } }
const call = { tool_call: { id: "c0", name: "echo", arguments: { x: 1 } } }
const chat = {
  engine: {
    adapter: "fake",
    scripts: [
      [call, { finish: "tool_calls" }],
      [{ text: "done" }, { finish: "stop" }]
    ],
    tools: [echo]
  },
  thread: [{ role: "user", content: "hi" }],
  opts: {}
}

const slow = { name: "slow", effect: "read", handler: { sleep_ms: 20, ...keyed("then", { halt: ["slow", 1] }) } }
const fast = { name: "fast", handler: { halt: ["fast", 2] } }
const slowAndFast = {
  tool_calls: ["slow", "fast"].map((name, index) => ({ id: `c${index}`, name, arguments: {} })),
  tools: [slow, fast]
}

describe("a case of the chat suite", () => {
  test.each([
    [
      "execute",
      { tool: echo, arguments: { a: 1 } },
      { value: { $exact: { ok: { a: 1 } } }, calls: [{ tool: "echo" }] }
    ],
    [
      "execute",
      { tool: { name: "t", handler: { raise: "kaboom" } } },
      {
        value: {
          error: { $error: { type: "ToolError", cause: { $exception: { type: "RuntimeError", message: "kaboom" } } } }
        }
      }
    ],
    ["encode", { value: { $unencodable: true } }, { raises: { type: "Protocol.UndefinedError" } }],
    [
      "run_tool_calls",
      { tool_calls: [{ id: "c0", name: "none", arguments: {} }], tools: [] },
      { error: { type: "EngineError", metadata: { tool_name: "none" } } }
    ],
    [
      "run_tool_calls",
      { tool_calls: [], tools: [], opts: { on_tool_error: "never" } },
      { raises: { type: "ArgumentError" } }
    ],
    [
      "stream_tool_calls",
      { tool_calls: [{ id: "c0", name: "echo", arguments: {} }], tools: [echo] },
      { contiguous_groups: true, per_id: { ids: ["c0"], tags: ["tool_execution_started", "tool_result_encoded"] } }
    ],
    [
      "run_tool_calls",
      slowAndFast,
      { ok: { halt: { halted_reason: "slow" } }, calls: [{ tool: "slow" }, { tool: "fast" }] }
    ],
    [
      "run_tool_calls",
      { ...slowAndFast, opts: { halt_order: "observed" } },
      { ok: { halt: { halted_reason: "fast" } } }
    ],
    [
      "run_tool_calls",
      { ...slowAndFast, opts: { schedule: "reference" } },
      { ok: { messages: { $len: 2 }, halt: { halted_reason: "fast" } }, calls: [{ tool: "fast" }] }
    ],
    [
      "run_tool_calls",
      { ...slowAndFast, tools: [slow, { ...fast, handler: { ok: 2 } }], opts: { schedule: "reference" } },
      { ok: { halt: { halted_reason: "slow" } }, calls: [{ tool: "fast" }, { tool: "slow" }] }
    ],
    [
      "step",
      chat,
      { ok: { done: false, thread: { messages: { $includes: [{ metadata: { tool_calls: [{ id: "c0" }] } }] } } } }
    ],
    ["stream", { ...chat, consume: { take: 2 } }, { event_count: 2, cleanup_runs: 1 }],
    [
      "stream",
      chat,
      {
        phase_order: [["text_delta"], ["chat_completed"]],
        last: [
          "chat_completed",
          { result: { halted_reason: "completed", final_response: { $ref: "stream.last.result.steps.-1.response" } } }
        ],
        requests: { $len: 2 }
      }
    ],
    ["run_vs_stream", chat, { equivalent: true, ok: { steps: { $len: 2 } } }],
    [
      "collect",
      { thread: [], events: [["text_delta", { id: null, delta: "hi" }]] },
      { response: { output_text: "hi" }, chat_result: { halted_reason: "cancelled" } }
    ],
    [
      "session",
      {
        engine: { ...chat.engine, tools: [{ ...echo, manual: true }] },
        ops: [
          { op: "start", input: { messages: chat.thread } },
          { op: "submit_tool_result", id: "none", value: 1 },
          { op: "reply", text: "so?" },
          { op: "submit_tool_results", results: [["c0", { a: 1 }]], compare_with_singles: true },
          { op: "continue", message: null }
        ]
      },
      {
        after: [
          { session: { status: "awaiting_tools", pending_tool_calls: [{ id: "c0" }] }, calls: [] },
          { error: { type: "SessionError", reason: "unknown_tool_call_id" }, unchanged: true },
          { raises: { type: "ArgumentError" }, unchanged: true },
          { session: { status: "idle" }, equals_singles: true },
          { session: { status: "completed" }, result: { halted_reason: "completed" } }
        ]
      }
    ],
    [
      "session",
      {
        engine: chat.engine,
        ops: [
          { op: "stream_start", input: { messages: chat.thread }, fold: { mode: "chat", seed: "current" } },
          { op: "reducer", mode: "step", events: [["text_delta", { id: null, delta: "hi" }]], finalize: 2 }
        ]
      },
      {
        after: [
          { event_count: 14, session: { thread: { messages: { $len: 4 } } } },
          { unchanged: true, finalize_equal: true, reducer: { collector: { current_text: "hi" } } }
        ]
      }
    ],
    ["session_start_vs_stream_start", { ...chat, messages: chat.thread }, { equivalent: true }],
    ["event.is_event", { event: ["text_delta", "not a map"] }, { value: false }],
    [
      "round_trip",
      { value: { $type: "Thread", fields: { messages: [{ $type: "Message", fields: hi }] } } },
      { equal: true }
    ],
    ["to_json", { value: { $type: "Message", fields: hi } }, { json: { __type__: "ALLM.Message", data: hi } }],
    ["from_json", { json: { __type__: "ALLM.Message", data: { ...hi, name: null } } }, { ok: hi }],
    ["from_json", { json: hi, as: "Message" }, { ok: hi }],
    [
      "from_json",
      { json: { __type__: "ALLM.Message", data: { role: "sage", content: "" } } },
      { error: { errors: [[["data", "role"], "atom_decode_failed"]] } }
    ],
    ["from_json", { text: "{" }, { error: { reason: "invalid_request", errors: [["json", "malformed"]] } }],
    ["validate.session", { value: { status: "awaiting_user" } }, { error: { reason: "invalid_session" } }],
    [
      "fake.interpret",
      { entry: { error: "odd" } },
      { value: [["error", { $error: { type: "AdapterError", cause: "odd" } }]] }
    ]
  ])("%s: holds where its expectation does", async (when, given, expected) => {
    expect(await statusOf(when, given, expected)).toBe("passed")
  })

  test("deviates where an unknown type is to be passed on", async () => {
    const json = { __type__: "ALLM.Future", data: {} }
    expect(await statusOf("from_json", { json }, { ok: json })).toMatch(/^deviates: D29/)
  })

  test("fails with what differs, and where", async () => {
    expect(await statusOf("run", chat, { ok: { halted_reason: "error" } })).toBe(
      'failed: ok.halted_reason: "completed" instead of "error"'
    )
  })

  test("fails when its call fails and nobody said so", async () => {
    const given = { ...chat, engine: { adapter: null } }
    expect(await statusOf("run", given, { ok: {} })).toMatch(/^failed: failure: failed with EngineError/)
  })

  test("is not examined in an unknown facet: neither failed nor passed", async () => {
    expect(await statusOf("run", chat, { odd: true })).toBe("unexamined: the facets odd")
    const report = await reported(folderOf(caseOf("a/b", "run", chat, { odd: true, ok: {} })))
    expect(report.lines).toEqual([
      "not examined, the facet odd: a/b",
      "0 deviate by decision; not run: none; 0 cases and 1 facets not examined",
      "1 passed, 0 failed"
    ])
  })

  test("fails when it is ill-formed", async () => {
    expect(await statusOf("run", [], {})).toMatch(/^failed: case: is ill-formed/)
  })

  test("is skipped when it is bound to Elixir or optional, and not examined when our API lacks what it calls", async () => {
    expect(await statusOf("run", {}, {}, { elixir_only: true })).toBe("skipped: elixir_only")
    expect(await statusOf("run", {}, {}, { optional: true })).toBe("skipped: optional")
    expect(await statusOf("compose", {}, {})).toBe("unexamined: compose")
    expect(await statusOf("run", { opts: { prompt_cache: true } }, {})).toMatch(/^unexamined: options/)
  })

  test("deviates where a decision explains every difference, and fails where one is left", async () => {
    const handler = { halt: ["error", 1] }
    const given = { tool_calls: [{ id: "c0", name: "t", arguments: {} }], tools: [{ name: "t", handler }] }
    const halts = { ok: { halt: { halted_reason: "error" } } }
    expect(await statusOf("run_tool_calls", given, halts)).toMatch(/^deviates: D11/)
    expect(await statusOf("run_tool_calls", given, { ...halts, calls: [] })).toMatch(/^failed/)
  })

  test.each([
    ["engine.resolve_params", { engine: {}, opts: { potato: "idaho" } }, { value: { potato: "idaho" } }, "D27"],
    ["collect", { events: [["raw_chunk", { $usage: { odd: 1 } }]] }, { raises: { type: "KeyError" } }, "D15"],
    [
      "fake.fold",
      { entries: [{ error: "boom" }] },
      { error: { type: "AdapterError", cause: "boom", reason: "unknown" } },
      "D36"
    ],
    [
      "error.new",
      { type: "EngineError", reason: "missing_adapter", fields: {} },
      { value: { message: "engine error: missing_adapter" } },
      "errors"
    ]
  ])("DEV1 excuses of %s the value that the decision explains", async (when, given, expected, topic) => {
    expect(await statusOf(when, given, expected)).toMatch(new RegExp(`^deviates: ${topic}`))
  })

  test.each([
    ["engine.resolve_params", { engine: {}, opts: { potato: "idaho" } }, { value: { potato: "utah" } }],
    ["engine.resolve_params", { engine: {}, opts: { potato: "idaho" } }, { value: { carrot: "idaho" } }],
    ["collect", { events: [["raw_chunk", { $usage: { odd: 1 } }]] }, { raises: { type: "ArgumentError" } }],
    ["fake.fold", { entries: [{ error: "boom" }] }, { error: { type: "AdapterError", reason: "rate_limited" } }],
    ["fake.fold", { entries: [{ error: "boom" }] }, { error: { type: "ToolError", reason: "unknown", cause: "boom" } }],
    [
      "error.new",
      { type: "EngineError", reason: "missing_adapter", fields: {} },
      { value: { message: "engine error: other" } }
    ]
  ])("DEV1 excuses of %s no other value", async (when, given, expected) => {
    expect(await statusOf(when, given, expected)).toMatch(/^failed: /)
  })

  test("deviates in what comes after a thread that a session does not send, and not in what came before", async () => {
    const result = { role: "tool", tool_call_id: "c0", content: "r" }
    const given = {
      engine: chat.engine,
      ops: [
        { op: "new", fields: { thread: chat.thread } },
        { op: "continue", message: result }
      ]
    }
    const last = { session: { status: "completed" }, result: { halted_reason: "completed" } }
    expect(await statusOf("session", given, { after: [{}, last] })).toMatch(/^deviates: D19/)
    expect(await statusOf("session", given, { after: [{ session: { status: "error" } }, last] })).toMatch(/^failed/)
    expect(await statusOf("session", given, { after: [{}, { ...last, result: "completed" }] })).toMatch(/^failed/)
  })
})

test("the report's last line is the tally; only a failure that no decision explains is unexpected", async () => {
  const good = caseOf("good", "event.tags", {}, { value: { $len: 16 } })
  const bad = caseOf("bad", "event.tags", {}, { value: { $len: 17 } })
  const old = caseOf("old", "reserved_halt_reasons", {}, { value: { $len: 6 } })
  const lost = caseOf("lost", "compose", {}, {})
  const report = await reported(folderOf(good, bad, old, lost))
  expect(report.asExpected).toBe(false)
  expect(report.lines.map((line) => line.slice(0, 40))).toEqual([
    expect.stringMatching(/^bad: value\.length/),
    expect.stringMatching(/^old: deviates \(D11/),
    expect.stringMatching(/^not examined, compose: lost/),
    expect.stringMatching(/^1 deviate by decision; not run: none/),
    "1 passed, 1 failed"
  ])
  const listed = await reported(folderOf(good, old))
  expect([listed.asExpected, listed.lines.at(-1)]).toEqual([true, "1 passed, 0 failed"])
})

describe("matching", () => {
  const scope = { outcome: { ok: { steps: [1, 2] } }, given: {} }
  const matches = (actual: unknown, expected: unknown) => differences(actual, expected, scope).length === 0

  test.each([
    [{ a: 1, b: 2 }, { a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: null }, { a: null }],
    [{ a: 1 }, { $exact: { a: 1 } }, { $exact: { a: 1, b: null } }],
    [{ a: 1 }, { b: { $absent: true } }, { a: { $absent: true } }],
    [{ a: 1 }, { a: { $any: true } }, { b: { $any: true } }],
    [[1, 2], [1, 2], [1]],
    [[1, 2], { $unordered: [2, 1] }, { $unordered: [2, 2] }],
    [[1, 2], { $includes: [2] }, { $includes: [3] }],
    [[1, 2], { $excludes: [3] }, { $excludes: [2] }],
    [[1, 2], { $last: 2 }, { $last: 1 }],
    [[1, 2], { $len: { $gte: 2 } }, { $len: 3 }],
    [[{ r: 1 }, { r: 2, v: 3 }], { $where: [{ r: 2 }, [{ v: 3 }]] }, { $where: [{ r: 1 }, []] }],
    ['{"a":1}', { $json: { a: 1 } }, { $json: { a: 2 } }],
    ["not json", { $contains: "json" }, { $json: {} }],
    ["x", { $string: true }, { $contains: "y" }],
    [5, { $between: [1, 5] }, { $between: [6, 7] }],
    [5, { $one_of: [4, 5] }, { $one_of: [4] }],
    [2, { $ref: "ok.steps.-1" }, { $ref: "ok.steps.0" }],
    [5, { $all: [{ $gte: 1 }, 5] }, { $all: [5, 6] }],
    [
      { $error: { type: "ToolError", reason: "timeout" } },
      { $error: { type: "ToolError" } },
      { $error: { type: "EngineError" } }
    ]
  ])("%j matches %j, and not %j", (actual, right, wrong) => {
    expect(matches(actual, right)).toBe(true)
    expect(matches(actual, wrong)).toBe(false)
  })
})
