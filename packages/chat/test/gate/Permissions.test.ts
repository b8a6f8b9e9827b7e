import { describe, expect, test } from "vitest"
import { ValidationError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import * as Permissions from "../../src/gate/Permissions.ts"
import { make } from "../../src/tool/Tool.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"
import { modes, type Mode } from "../../src/record/PermissionMode.ts"
import type { Tool } from "../../src/tool/toolContract.ts"

const call = (name: string): ToolCall => ({ id: "1", name, arguments: {} })
const writing = (name: string): Tool => make({ name })
const reading = (name: string): Tool => make({ name, metadata: { readOnly: true } })
const ask: Permissions.Ask = () => "allow"

/** `allow`, `ask`, or the code of the refusal. */
const judged = (tool: Tool | string, permissions: Permissions.Permissions, mode?: Mode): string => {
  const [name, known] = typeof tool === "string" ? [tool, undefined] : [tool.name, tool]
  const verdict = Permissions.check(call(name), known, permissions, { mode })
  return verdict.type === "deny" ? verdict.denial.code : verdict.type
}

describe("permissions", () => {
  test("61 the deny list comes before the allow list, the allow list before the mode, the mode before the question", () => {
    for (const mode of modes) {
      expect(judged(reading("r"), { mode, deny: ["r"], allow: ["r"], ask })).toBe("user_denied")
      expect(judged(reading("r"), { mode, allow: ["other"], ask })).toBe("user_denied")
      expect(judged(reading("r"), { mode, allow: [], ask })).toBe("user_denied")
      expect(judged(reading("r"), { mode, deny: [] })).toBe("allow")
    }
    expect(judged(writing("w"), { mode: "plan", allow: ["w"], ask })).toBe("phase_gated")
  })

  test("a refusal says for programs what was asked for, and what may be called", () => {
    const denied = Permissions.check(call("rm"), undefined, { deny: ["rm"] })
    expect(denied).toMatchObject({ type: "deny", denial: { metadata: { requestedTool: "rm" } } })
    const missing = Permissions.check(call("rm"), undefined, { allow: ["ls"] })
    expect(missing).toMatchObject({ denial: { metadata: { requestedTool: "rm", allowedTools: ["ls"] } } })
  })

  test("each mode lets through, asks about and refuses what its row says", () => {
    const row = (mode: Mode) =>
      [reading("r"), writing("e"), writing("w"), "nobody"].map((tool) => judged(tool, { mode, ask, edits: ["e"] }))
    expect(row("plan")).toEqual(["ask", "phase_gated", "phase_gated", "phase_gated"])
    expect(row("default")).toEqual(["ask", "ask", "ask", "ask"])
    expect(row("acceptEdits")).toEqual(["allow", "allow", "ask", "ask"])
    expect(row("trusted")).toEqual(["allow", "allow", "allow", "allow"])
    expect(row("bypass")).toEqual(["allow", "allow", "allow", "allow"])
  })

  test("where nobody can be asked, what would be asked about runs", () => {
    expect(modes.map((mode) => judged(reading("r"), { mode }))).toEqual(Array(5).fill("allow"))
    expect(judged(writing("w"), { mode: "plan" })).toBe("phase_gated")
    expect(judged(writing("w"), {})).toBe("allow")
  })

  test("planning allows what is listed as reading, by name or by call", () => {
    expect(judged("srv_list", { mode: "plan", readOnly: ["srv_list"] })).toBe("allow")
    expect(judged("srv_list", { mode: "plan", readOnly: ["srv_list"], deny: ["srv_list"] })).toBe("user_denied")
    const readOnly = ({ arguments: args }: ToolCall): boolean => args?.["command"] === "ls"
    const shell = (command: string): ToolCall => ({ id: "1", name: "bash", arguments: { command } })
    expect(Permissions.check(shell("ls"), writing("bash"), { mode: "plan", readOnly }).type).toBe("allow")
    expect(Permissions.check(shell("rm"), writing("bash"), { mode: "plan", readOnly }).type).toBe("deny")
  })

  test("a function that says what reads, and throws, says that it does not", () => {
    const readOnly = (): boolean => {
      throw new Error("lost")
    }
    expect(judged(writing("w"), { mode: "plan", readOnly })).toBe("phase_gated")
  })

  test("what may only be edited is no reading: planning refuses it", () => {
    expect(judged(writing("e"), { mode: "plan", edits: ["e"] })).toBe("phase_gated")
    expect(judged(writing("l"), { mode: "acceptEdits", readOnly: ["l"], ask })).toBe("ask")
  })

  test("the mode a run is in counts before the one it was given", () => {
    expect(judged(writing("w"), { mode: "bypass" }, "plan")).toBe("phase_gated")
  })

  test("a mode nobody defined counts as the default, and is the loosest of two", () => {
    const typo = "typo" as Mode
    expect(judged(writing("w"), { mode: typo, ask })).toBe("ask")
    expect(modes.map((mode) => Permissions.clamp(mode, typo))).toEqual(modes)
    expect(modes.map((mode) => Permissions.clamp(typo, mode))).toEqual(modes)
  })

  test("the stricter of two modes is the same whichever comes first", () => {
    modes.forEach((one, strictness) => {
      modes.forEach((other, at) => {
        expect(Permissions.clamp(one, other)).toBe(strictness < at ? one : other)
      })
    })
  })

  test("options that make no sense are refused, each by its place", () => {
    const permissions = {
      mode: "yolo",
      deny: "rm",
      allow: [1],
      readOnly: {},
      edits: null,
      ask: true,
      expiresMs: -1,
      x: 1
    }
    const found = refusalOf({ permissions })
    expect(found.map(({ field }) => field.join("."))).toEqual(
      ["mode", "deny", "allow", "readOnly", "edits", "ask", "expiresMs", "x"].map((part) => `permissions.${part}`)
    )
    expect(found[0]?.reason).toBe("must_be_one_of plan, default, acceptEdits, trusted, bypass")
    expect(refusalOf({ permissions: [] })).toHaveLength(1)
  })
})

const refusalOf = (options: object): ValidationError["errors"] => {
  try {
    resolveOptions(Engine.make({}), options)
  } catch (thrown) {
    if (thrown instanceof ValidationError) return thrown.errors
    throw thrown
  }
  return []
}
