import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { deviations } from "../../conformance/deviations/deviations.ts"
import { dispatchSuite } from "../../conformance/dispatch/dispatchSuite.ts"
import { reportOf, runSuite } from "../../conformance/runner/runSuite.ts"

const nothing = { status: "nothing", detail: "" }

const reported = async (path: string) => reportOf(await runSuite(dispatchSuite, deviations, path))

const folders: Array<string> = []

const folderOf = (files: Readonly<Record<string, unknown>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "dispatch-cases-"))
  folders.push(folder)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content))
  return folder
}

const keyed = (key: string, value: unknown): object => ({ [key]: value })

const caseOf = (id: string, when: object, given: object = {}, expected: object = {}): object => ({
  id,
  given,
  when,
  ...keyed("then", expected)
})

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

test("a case of which no part is ours is not examined, with the reason, and no failure", async () => {
  const folder = folderOf({
    "cases.json": [caseOf("C-1", { spawn: true })],
    "golden-odd.json": { oracle: {}, runs: [{ id: "G-1" }] }
  })
  expect(await reported(folder)).toEqual({
    lines: [
      "not examined, subagents: C-1",
      "not examined, golden-odd.runs is not run: G-1",
      "0 deviate by decision; not run: none; 2 cases and 0 facets not examined",
      "0 passed, 0 failed"
    ],
    asExpected: true
  })
})

const statusOf = async (when: object, given: object, expected: object): Promise<string> => {
  const [{ status, detail } = nothing] = await runSuite(
    dispatchSuite,
    deviations,
    folderOf({ "c.json": [caseOf("C-1", when, given, expected)] })
  )
  return detail === "" ? status : `${status}: ${detail}`
}

const tools = [{ name: "r", parallelSafe: true }, { name: "w" }]

const twoHalts = [
  { id: "a", tool: "r", delayMs: 80, halt: "first in call order" },
  { id: "b", tool: "r", delayMs: 10, halt: "first in time" }
]

describe("a batch", () => {
  test.each([
    [
      {
        runBatch: [
          { id: "a", tool: "r", reads: "cell" },
          { id: "b", tool: "w", writes: { cell: "new" } }
        ]
      },
      { sharedCell: "old" },
      { resultOf: { a: "new" }, results: ["new", "ok:b"], outcome: "ok" }
    ],
    [
      {
        runBatch: [
          { id: "a", tool: "w", edit: { mistakes: "+1", tokens: "+5" } },
          { id: "b", tool: "w", halt: null }
        ]
      },
      { state: { mistakes: 1, tokens: 3 } },
      { trace: ["start a", "end a", "start b", "end b"], sawPhase: { b: "default" }, maxInFlight: 1 }
    ],
    [
      {
        runBatch: [
          { id: "a", tool: "w", edit: { mistakes: "+1", tokens: "+5" } },
          { id: "b", tool: "w", halt: null }
        ]
      },
      { state: { mistakes: 1, tokens: 3 } },
      { outcome: "halt", reason: null, results: "absent", state: { mistakes: 2, tokens: 8 }, sawTokens: { a: 3, b: 8 } }
    ],
    [
      {
        runBatch: [
          { id: "a", tool: "r", delayMs: 90 },
          { id: "b", tool: "r", error: "bad" }
        ]
      },
      { state: { toolTimeoutMs: 60 } },
      { byVersion: { newest: { errorIds: ["a", "b"], killed: ["a"] }, "0.4.2": "raises" } }
    ],
    [
      {
        runBatch: [
          { id: "a", tool: "w", crash: "exception" },
          { id: "b", tool: "w" }
        ]
      },
      {},
      { outcome: "the same exception reaches the caller", neverStarted: ["b"] }
    ],
    [
      {
        runBatch: [
          { id: "a", tool: "r", edit: { mistakes: "=3" } },
          { id: "b", tool: "r" }
        ],
        anyFinishOrder: true
      },
      { state: { mistakes: 4 } },
      { mistakes: 3 }
    ],
    [{ runBatch: twoHalts }, { options: { schedule: "effects" } }, { outcome: "halt", reason: "first in call order" }],
    [
      { runBatch: twoHalts },
      { options: { schedule: "effects", haltOrder: "observed" } },
      { outcome: "halt", reason: "first in time" }
    ],
    [
      {
        runBatch: [
          { id: "r1", tool: "r" },
          { id: "w1", tool: "w" },
          { id: "r2", tool: "r" },
          { id: "w2", tool: "w" }
        ]
      },
      { options: { schedule: "reference" } },
      {
        trace: ["w1", "w2"]
          .flatMap((id) => [`start ${id}`, `end ${id}`])
          .concat(["start r1", "start r2", "end r1", "end r2"])
      }
    ],
    [{ runBatchWithConcurrency: { unset: 9, "2": 9 } }, {}, { maxInFlight: { unset: 4, "2": 2 } }],
    [{ runBatchEach: [[{ id: "a", tool: "r", rawResult: null }], [{ id: "b", tool: "w" }]] }, {}, { errorIds: ["a"] }],
    [{ emitResultEvents: true }, { resultsEach: ["missing"] }, { newest: [[]] }]
  ])("%j passes where its expectation holds", async (when, given, expected) => {
    expect(await statusOf(when, { tools, ...given }, expected)).toBe("passed")
  })

  test("fails with what differs, and when its case is not understood", async () => {
    const calls = [{ id: "a", tool: "r" }]
    expect(await statusOf({ runBatch: calls }, { tools }, { outcome: "halt" })).toBe(
      'failed: outcome: "ok" instead of "halt"'
    )
    expect(await statusOf({ runBatch: calls }, { tools }, { odd: 1 })).toBe("unexamined: the facets odd")
    expect(await statusOf({ runBatch: [{ id: "a", odd: 1 }] }, { tools }, {})).toMatch(/^failed: runner: .* has odd/)
  })

  test("is not examined where its case is of an old version alone", async () => {
    const old = {
      ...caseOf("C-1", { runBatch: [{ id: "a", tool: "r", rawResult: null }] }, { tools }, { okIds: ["a"] })
    }
    const report = await reported(folderOf({ "c.json": [{ ...old, version: "0.4.2" }] }))
    expect(report.lines[0]).toBe("not examined, what only an old version does: C-1")
    expect((await reported(folderOf({ "c.json": [{ ...old, version: "0.5.0 on" }] }))).asExpected).toBe(false)
  })

  test("deviates where results stand by position, and where a crash ends nobody", async () => {
    const same = ["k1", "k2"].map((key) => ({ id: "same", key, tool: "r" }))
    expect(await statusOf({ runBatch: same }, { tools }, { results: ["ok:k2", "ok:k2"] })).toMatch(/^deviates: results/)
    const crash = { runBatch: [{ id: "a", tool: "r", crash: "exception" }] }
    const dies = { outcome: "the process that called run dies" }
    expect(await statusOf(crash, { tools }, dies)).toMatch(/^deviates: crashes/)
    expect(await statusOf(crash, { tools }, { ...dies, errorIds: [] })).toMatch(/^failed/)
  })
})

test("a recorded run is compared in all that was seen of it, under the newest version's answer", async () => {
  const state = { messages: 0, mistakes: 0, phase: "default", tokens: 0, toolCallsMade: 0 }
  const trace = ["start:w", "end:w", "start:r", "end:r"]
  const scenario = (id: string, script: object, newest: object) => ({
    id,
    initial: { phase: "default", mistakes: 0, tokens: 0 },
    calls: [
      { key: "r", id: "r", tool: "r", script },
      { key: "w", id: "w", tool: "w", script: { stateEdits: [{ bump: 1 }, { add_tokens: 2 }] } }
    ],
    expected: { newest, "0.4.2": { kind: "raised-in-caller" } }
  })
  const results = [
    { callId: "r", content: "ok:r", isError: false },
    { callId: "w", content: "ok:w", isError: false }
  ]
  const ended = { ...state, mistakes: 1, tokens: 2 }
  const seen = { r: { mistakes: 1, tokens: 2 }, w: { mistakes: 0 } }
  const scenarios = [
    scenario("G-1", { delayMs: 5 }, { kind: "ok", results, state: ended, trace, maxInFlight: 1, seen }),
    scenario("G-2", { result: { halt: "h" } }, { kind: "halt", reason: "h", state: ended }),
    scenario(
      "G-3",
      { crash: "raise" },
      { kind: "caller-process-killed", reason: "RuntimeError", trace: trace.slice(0, 3) }
    ),
    scenario("G-4", {}, { kind: "ok", state })
  ]
  const report = await reported(folderOf({ "golden-parallel.json": { oracle: {}, scenarios } }))
  expect(report.asExpected).toBe(false)
  expect(report.lines.map((line) => line.slice(0, 30))).toEqual([
    "G-4: state.mistakes: 1 instead",
    "G-3: deviates (crashes: A read",
    "1 deviate by decision; not run",
    "2 passed, 1 failed"
  ])
})
