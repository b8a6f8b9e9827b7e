/** The file `SKILL.md`: its fields and its instructions. */
import { describe } from "@troupe/chat/errors"
import { parse } from "yaml"
import * as z from "zod"
import { SkillError } from "./SkillError.ts"

/** A skill, as its `SKILL.md` describes it. */
export interface Skill {
  /** Lowercase letters, digits and hyphens. */
  readonly name: string
  /** What the skill does, and when to use it. */
  readonly description: string
  /** The tools that the skill may use without approval. Default: none. */
  readonly allowedTools: ReadonlyArray<string>
  /** The licence, or the file that has it. */
  readonly license?: string | undefined
  /** What the skill needs of its environment. */
  readonly compatibility?: string | undefined
  /** Further fields of its author. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** A skill with its instructions. */
export interface SkillText {
  readonly skill: Skill
  readonly instructions: string
}

const fields = z.object({
  name: z
    .string("write `name: …`")
    .max(64, "use at most 64 characters")
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "use lowercase letters, digits and single hyphens between them"),
  description: z.string("write `description: …`").trim().min(1, "say what it does and when to use it").max(1024),
  license: z.string().optional(),
  compatibility: z.string().min(1).max(500).optional(),
  metadata: z.record(z.string(), z.coerce.string()).optional(),
  "allowed-tools": z.union([z.string(), z.array(z.string())], "name tools, separated by spaces").optional()
})

/** Reads the text of a `SKILL.md`; throws a `SkillError` (`invalid_skill`). */
export const skillIn = (text: string, source: string, folder: string): SkillText => {
  const found = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text)
  if (found === null) throw new SkillError("invalid_skill", source, "begins without `---`, its fields, and `---`")
  const checked = fields.safeParse(fieldsIn(found[1] ?? "", source))
  if (!checked.success) {
    const findings = checked.error.issues.map(({ path, message }) => `${path.join(".") || "fields"}: ${message}`)
    throw new SkillError("invalid_skill", source, findings.join("; "))
  }
  const { "allowed-tools": allowed = [], ...skill } = checked.data
  if (skill.name !== folder)
    throw new SkillError("invalid_skill", source, `name: write ${folder}, the name of its folder, not ${skill.name}`)
  const allowedTools = typeof allowed === "string" ? namesIn(allowed) : allowed
  return { skill: { ...skill, allowedTools }, instructions: text.slice(found[0].length).trim() }
}

/** Spaces inside brackets separate nothing: `Bash(git add *)` is one entry. */
const namesIn = (text: string): ReadonlyArray<string> => text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []

const fieldsIn = (text: string, source: string): unknown => {
  try {
    return parse(text, { maxAliasCount: 0 })
  } catch (fault) {
    throw new SkillError("invalid_skill", source, `its fields are not YAML: ${describe(fault)}`, fault)
  }
}
