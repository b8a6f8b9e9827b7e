import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { deviations } from "../../conformance/deviations/deviations.ts"
import { dispatchSuite } from "../../conformance/dispatch/dispatchSuite.ts"
import { runSuite } from "../../conformance/runner/runSuite.ts"

const nothing = { status: "nothing", detail: "" }

const folders: Array<string> = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const keyed = (key: string, value: unknown): object => ({ [key]: value })

/** How the one case of a file ended. */
const statusOfFile = async (name: string, content: unknown): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "gate-cases-"))
  folders.push(folder)
  writeFileSync(join(folder, name), JSON.stringify(content))
  const [{ status, detail } = nothing] = await runSuite(dispatchSuite, deviations, folder)
  return detail === "" ? status : `${status}: ${detail}`
}

const statusOf = (when: object, given: object, expected: object): Promise<string> =>
  statusOfFile("cases.json", [{ id: "C-1", when, given, ...keyed("then", expected) }])

const recorded = (section: string, run: object): Promise<string> =>
  statusOfFile("golden-gate.json", { [section]: [{ id: "G-1", ...run }] })

describe("a case about permissions", () => {
  test.each([
    [{ check: "write" }, { phase: "plan" }, { verdict: "deny:phase_gated" }],
    [{ check: "sh" }, { deny: ["sh"] }, { verdict: "deny", code: "user_denied", metadata: { requested_tool: "sh" } }],
    [
      { checkEach: ["read", "sh"] },
      { phase: "accept_edits", ask: "denies" },
      { verdicts: ["allow", "deny:user_denied"] }
    ],
    [{ checkEach: ["a", "b"] }, { phase: "odd", ask: "denies" }, { verdicts: "all deny:user_denied" }],
    [{ checkWith: [{ allow: [], tool: "read" }] }, {}, { verdicts: ["deny:user_denied"] }],
    [{ checkShell: "rm x" }, { phase: "default" }, { verdict: "allow" }],
    [{ checkPlanMode: "enter" }, { phase: "plan", runStartedIn: "plan" }, { verdict: "allow" }],
    [{ checkWithAskReturning: ["42"] }, {}, { outcomes: ["deny:unknown"] }]
  ])("%j passes where its expectation holds", async (when, given, expected) => {
    expect(await statusOf(when, given, expected)).toBe("passed")
  })

  test("fails with what differs", async () => {
    expect(await statusOf({ check: "write" }, { phase: "plan" }, { verdict: "allow" })).toMatch(/^failed: verdict/)
  })

  test("is not examined where it is about shells", async () => {
    expect(await statusOf({ checkShellEach: ["ls"] }, { phase: "plan" }, {})).toMatch(/^unexamined/)
  })

  test("can be about leaving a plan of the host, where nobody can be asked", async () => {
    const exit = { checkPlanMode: "exit" }
    const given = { phase: "plan", runStartedIn: "plan" }
    expect(await statusOf(exit, given, { verdict: "deny:phase_gated" })).toBe("passed")
    expect(await statusOf(exit, given, { verdict: "deny:user_denied" })).toMatch(/^failed/)
    expect(await statusOf(exit, given, { verdict: "allow" })).toMatch(/^failed/)
  })

  test("deviates where an answer edits, and where a question throws", async () => {
    const asked = { checkWithAskReturning: ["{allow, changed-args}"] }
    expect(await statusOf(asked, {}, { outcomes: ["allow"], argsChanged: false })).toMatch(/^deviates: gates/)
    const raises = { checkWithAskReturning: ["raises"] }
    expect(await statusOf(raises, {}, { outcomes: ["the exception escapes"] })).toMatch(/^deviates: faults/)
  })

  test("can be recorded: a cell of the matrix, two modes", async () => {
    const cell = { phase: "plan", tool: "read", args: {}, callback: "none" }
    expect(await recorded("permissionMatrix", { ...cell, newest: "allow" })).toBe("passed")
    expect(await recorded("permissionMatrix", { ...cell, newest: "deny:phase_gated" })).toMatch(/^failed/)
    expect(await recorded("phaseClamp", { a: "bypass_permissions", b: "plan", result: "plan" })).toBe("passed")
    expect(await recorded("phaseClamp", { a: "trusted", b: "plan", result: "trusted" })).toMatch(/^failed/)
  })
})

describe("a case about hooks", () => {
  test.each([
    [{ preTool: "t" }, { PreToolUse: [{ deny: "no" }] }, { result: { deny: "no" } }],
    [
      { preToolEach: ["t", "u"] },
      { PreToolUse: [{ match: "^t", hook: "spy" }] },
      { fired: [1, 0], results: ["ok", "ok"] }
    ],
    [{ postTool: "t" }, { PostToolUse: [{ augment: "x" }, { halt: "h" }] }, { result: { halt: "h" }, ran: 2 }],
    [{ postToolEach: ["t"] }, { PostToolUse: [{ augment: "x" }] }, { results: [{ augment: "x" }] }],
    [{ lifecycle: "ChatParams" }, { ChatParams: [{ inject: "m" }] }, { injects: ["m"] }],
    [
      { gate: { tool: "t" } },
      { permission: { deny: ["t"] }, hooks: { PreToolUse: "spy", PermissionDenied: { halt: "x" } } },
      { verdict: "deny", hooksFired: ["PermissionDenied"], notFired: ["PreToolUse"] }
    ]
  ])("%j passes where its expectation holds", async (when, given, expected) => {
    expect(await statusOf(when, given, expected)).toBe("passed")
  })

  test("fails with what differs", async () => {
    const given = { PreToolUse: [{ deny: "no" }] }
    expect(await statusOf({ preTool: "t" }, given, { result: { deny: "yes" } })).toMatch(/^failed: result.deny/)
    const fired = { hooks: { PreToolUse: "spy" } }
    expect(await statusOf({ gate: { tool: "t" } }, fired, { notFired: ["PreToolUse"] })).toMatch(/^failed: notFired/)
  })

  test("can be recorded, where the title says what was set up", async () => {
    const newest = { result: "allow", hookLog: [] }
    expect(await recorded("preToolGate", { title: "no options", expected: { newest } })).toBe("passed")
    expect(await recorded("preToolGate", { title: "something else", expected: { newest } })).toMatch(/^unexamined/)
  })
})
