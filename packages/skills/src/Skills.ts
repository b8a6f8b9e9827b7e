/**
 * Skills: folders of instructions in the form of agentskills.io, which a model reads when it needs them.
 *
 * The model sees the name and the description of each skill, in the description of the tool `read_skill`. It reads the
 * instructions of a skill with `{ skill }`, and a file beside them with `{ skill, file }`.
 *
 * SKILL1. No file outside the folder of a skill is read: neither by `..`, nor by an absolute path, nor over a symbolic link.
 * SKILL2. Files are read when the model asks for them, so a change of the file takes effect without a restart. A result has at most
 *         `bounds.characters`; it says how to read the rest.
 * SKILL3. A call that `allowed-tools` of a skill names needs no approval once the model has read the instructions of the skill in the
 *         conversation. The lists and the mode of the permissions apply before. A skill of an MCP server allows nothing unless it is
 *         `trusted`. An entry with brackets, such as `Bash(git:*)`, allows nothing.
 *
 * @module
 * @source https://agentskills.io/specification
 */
import { error, ok, tool } from "@troupe/chat"
import { describe, optionFindings, ValidationError } from "@troupe/chat/errors"
import type { Message } from "@troupe/chat/messages"
import type { Permissions, Tool } from "@troupe/chat/tools"
import * as z from "zod"
import { SkillError } from "./SkillError.ts"
import { type Skill, skillIn, type SkillText } from "./skillFile.ts"
import { type SkillFiles, skillsOf, type SkillSource } from "./skillSources.ts"

export type { Skill } from "./skillFile.ts"
export type { SkillServer, SkillSource } from "./skillSources.ts"

/** How much is loaded and shown to the model. */
export interface SkillBounds {
  /** The most skills. Default: 100. */
  readonly skills?: number | undefined
  /** The most files of a skill that the model sees in a list. Default: 200. */
  readonly files?: number | undefined
  /** The most characters of a result of `read_skill`, and of the list of all skills. Default: 32,768. */
  readonly characters?: number | undefined
}

/** Loaded skills. */
export interface Skills {
  /** All skills, in the order of their sources. */
  readonly list: ReadonlyArray<Skill>
  /** The tool `read_skill`, for the tools of an agent. */
  readonly tools: ReadonlyArray<Tool.Tool>
  /** Skills of MCP servers that do not have the form, which are left out. */
  readonly leftOut: ReadonlyArray<SkillError>
  /** Allows the calls that a skill allows, and asks `ask` about all others: the `ask` of the permissions. */
  readonly ask: (ask: Permissions.Ask) => Permissions.Ask
}

const most = z.int("must_be_a_whole_number").min(1, "must_be_at_least_1").optional()
const bounding = z.strictObject({ skills: most, files: most, characters: most }).optional()

/**
 * Loads skills.
 *
 * **Errors**: rejects with a `SkillError` for a source without a skill, a `SKILL.md` of another form, and two skills of one name. It
 * rejects with a `ValidationError` for unknown bounds, and for too many skills.
 *
 * @example
 * ```ts
 * const skills = await Skills.load(["./skills", { package: "@acme/skills" }])
 * const troupe = await Troupe.start({ adapter, tools: skills.tools, permissions: { ask: skills.ask(askPerson) } })
 * ```
 */
export const load = async (
  sources: SkillSource | ReadonlyArray<SkillSource>,
  { bounds }: { readonly bounds?: SkillBounds | undefined } = {}
): Promise<Skills> => {
  const wrong = optionFindings(bounding, bounds)
  if (wrong.length > 0) throw new ValidationError("invalid_options", wrong)
  const { skills: maxSkills = 100, files = 200, characters = 32_768 } = bounds ?? {}
  const given = Array.isArray(sources) ? (sources as ReadonlyArray<SkillSource>) : [sources as SkillSource]
  const found = (await Promise.all(given.map(skillsOf))).flat()
  if (found.length > maxSkills) {
    const reason = `has ${found.length} skills of at most ${maxSkills}; raise bounds.skills, or give fewer folders`
    throw new ValidationError("invalid_options", [{ field: ["sources"], reason }])
  }
  const leftOut: Array<SkillError> = []
  const byName = new Map<string, LoadedSkill>()
  for (const skill of await Promise.all(found.map(loaded))) {
    if (skill instanceof SkillError) leftOut.push(skill)
    else if (!byName.has(skill.skill.name)) byName.set(skill.skill.name, skill)
    else throw new SkillError("invalid_skill", skill.files.source, `another skill has the name ${skill.skill.name}`)
  }
  const list = [...byName.values()].map(({ skill }) => skill)
  return { list, leftOut, tools: [readSkill(byName, { files, characters })], ask: (ask) => allowing(byName, ask) }
}

interface LoadedSkill {
  readonly skill: Skill
  readonly files: SkillFiles
}

/** A skill of a server that cannot be used is left out; its text is not the host's. */
const loaded = async (files: SkillFiles): Promise<LoadedSkill | SkillError> => {
  try {
    return { skill: (await textOf(files)).skill, files }
  } catch (fault) {
    if (files.trusted || !(fault instanceof SkillError)) throw fault
    return fault
  }
}

const textOf = async (files: SkillFiles): Promise<SkillText> =>
  skillIn((await files.read("SKILL.md")) ?? "", files.source, files.folder)

const toolName = "read_skill"

const readSkill = (
  byName: ReadonlyMap<string, LoadedSkill>,
  { files: maxFiles, characters }: Required<{ readonly [Bound in "files" | "characters"]: number }>
): Tool.Tool => {
  const names = [...byName.keys()]
  return tool({
    name: toolName,
    description: `Reads the instructions of a skill, or a file of it. Read a skill before you do what it describes.\n${listOf(byName, characters)}`,
    effect: "read",
    parameters: z.object({
      skill: z.enum(names as [string, ...Array<string>]),
      file: z.string().describe("A file of the skill. Default: its instructions").optional(),
      offset: z.int().min(0).describe("The character to begin at, for the rest of a long text").optional()
    }),
    execute: async ({ skill, file, offset = 0 }) => {
      const { files } = byName.get(skill) as LoadedSkill
      try {
        const text = file === undefined ? await opened(files, maxFiles) : await files.read(file)
        if (text === undefined) return error(`${skill} has no file ${file}${await filesOf(files, maxFiles)}`)
        return ok(pageOf(text, offset, characters))
      } catch (fault) {
        return error(`${file ?? skill} cannot be read: ${describe(fault)}`)
      }
    }
  })
}

const listOf = (byName: ReadonlyMap<string, LoadedSkill>, characters: number): string => {
  const skills = [...byName.values()].map(({ skill }) => skill)
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`)
  const whole = lines.join("\n")
  return whole.length <= characters ? whole : skills.map(({ name }) => `- ${name}`).join("\n")
}

const opened = async (files: SkillFiles, maxFiles: number): Promise<string> =>
  (await textOf(files)).instructions + (await filesOf(files, maxFiles))

const filesOf = async (files: SkillFiles, maxFiles: number): Promise<string> => {
  const all = await files.list()
  if (all.length === 0) return ""
  const more = all.length > maxFiles ? [`… and ${all.length - maxFiles} more`] : []
  return `\n\nFiles, which ${toolName} reads with \`file\`:\n${[...all.slice(0, maxFiles), ...more].join("\n")}`
}

const pageOf = (text: string, offset: number, characters: number): string => {
  const page = text.slice(offset, offset + characters)
  const end = offset + page.length
  return end < text.length ? `${page}\n[${text.length - end} more characters: read them with offset ${end}]` : page
}

const allowing =
  (byName: ReadonlyMap<string, LoadedSkill>, ask: Permissions.Ask): Permissions.Ask =>
  (question) => {
    const { toolCall, wants, messages } = question
    const allows = [...byName.values()].filter(
      ({ skill, files }) => files.trusted && skill.allowedTools.includes(toolCall.name)
    )
    if (wants !== undefined || allows.length === 0) return ask(question)
    const read = skillsReadIn(messages)
    return allows.some(({ skill }) => read.has(skill.name)) ? "allow" : ask(question)
  }

/** The skills whose instructions a thread has. */
const skillsReadIn = (messages: ReadonlyArray<Message.Message>): ReadonlySet<string> => {
  const asked = new Map<string, string>()
  const read = new Set<string>()
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const { id, name, arguments: args } of message.toolCalls ?? []) {
        asked.delete(id)
        if (name === toolName && args !== null && args["file"] === undefined) asked.set(id, String(args["skill"]))
      }
    } else if (message.role === "tool" && message.outcome === "completed") {
      const skill = asked.get(message.toolCallId)
      if (skill !== undefined) read.add(skill)
    }
  }
  return read
}
