import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { Fake, tool, Troupe } from "@troupe/chat"
import { isHandlerResult } from "@troupe/chat/results"
import type { Permissions, Tool } from "@troupe/chat/tools"
import { System } from "@troupe/otp"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { SkillError, Skills } from "../src/index.ts"

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "skills-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Writes a folder of skills: the files of each, by name. */
const written = async (name: string, skills: Readonly<Record<string, Readonly<Record<string, string>>>>) => {
  const root = path.join(folder, name)
  for (const [skill, files] of Object.entries(skills)) {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(root, skill, file)), { recursive: true })
      await writeFile(path.join(root, skill, file), text)
    }
  }
  return root
}

const refund = `---
name: refund
description: How to refund a customer. Use it when a customer wants money back.
license: MIT
metadata: { version: 2 }
allowed-tools: pay look Bash(git:*)
---
Look at the order first.
`

/** What the tool returns for these arguments. */
const reading = async ({ tools: [read] }: Skills.Skills, args: Record<string, unknown>): Promise<unknown> => {
  const context = {} as Tool.ToolContext
  const result = await read?.handler?.(args, context)
  if (!isHandlerResult(result)) throw new Error("the tool returned nothing")
  return result.type === "ok" ? result.value : result
}

describe("skills", () => {
  test("the list has the fields of each SKILL.md, and the tool describes each skill", async () => {
    const root = await written("fields", { refund: { "SKILL.md": refund }, empty: { "notes.md": "no skill" } })
    const { list, tools } = await Skills.load(root)
    expect(list).toEqual([
      {
        name: "refund",
        description: "How to refund a customer. Use it when a customer wants money back.",
        license: "MIT",
        metadata: { version: "2" },
        allowedTools: ["pay", "look", "Bash(git:*)"]
      }
    ])
    expect(tools[0]?.description).toContain("- refund: How to refund a customer.")
    expect((await Skills.load(path.join(root, "refund"))).list).toEqual(list)
  })

  test.each([
    ["no-fields", "Just text", "begins without `---`"],
    ["other-name", refund, "name: write other-name"],
    ["Upper", "---\nname: Upper\ndescription: d\n---\n", "use lowercase letters"],
    ["no-description", "---\nname: no-description\n---\n", "description: write `description: …`"],
    ["bombs", "---\nname: bombs\ndescription: d\na: &a [1]\nb: *a\n---\n", "not YAML"]
  ])("a SKILL.md of another form is an error that says what to write: %s", async (name, text, says) => {
    const root = await written(`wrong-${name}`, { [name]: { "SKILL.md": text } })
    const load = Skills.load(root)
    await expect(load).rejects.toBeInstanceOf(SkillError)
    await expect(load).rejects.toMatchObject({ reason: "invalid_skill", message: expect.stringContaining(says) })
  })

  test("a missing folder, a missing package, two skills of one name and unknown bounds are errors", async () => {
    const root = await written("twice", { refund: { "SKILL.md": refund } })
    await expect(Skills.load(path.join(folder, "none"))).rejects.toMatchObject({ reason: "not_found" })
    await expect(Skills.load({ package: "no-such-package" })).rejects.toMatchObject({ reason: "not_found" })
    await expect(Skills.load([root, root])).rejects.toThrow("another skill has the name refund")
    await expect(Skills.load(root, { bounds: { skill: 1 } as Skills.SkillBounds })).rejects.toThrow("skill")
    await expect(
      Skills.load(await written("many", { refund: { "SKILL.md": refund } }), { bounds: { skills: 0 } })
    ).rejects.toThrow("skills")
  })

  test("a package has its skills in the folder skills", async () => {
    const root = await written("program", {
      "node_modules/acme/skills/refund": { "SKILL.md": refund },
      "node_modules/acme": { "package.json": '{"name":"acme"}' }
    })
    const { list } = await Skills.load({ package: "acme", from: path.join(root, "main.js") })
    expect(list.map(({ name }) => name)).toEqual(["refund"])
  })

  test("SKILL1 the model reads the instructions and the files of a skill, and no file outside its folder", async () => {
    const root = await written("files", {
      refund: { "SKILL.md": refund, "references/limits.md": "At most 100.", "logo.bin": "x" },
      other: { "secret.txt": "secret" }
    })
    await writeFile(path.join(root, "refund", "logo.bin"), new Uint8Array([0xff, 0xfe, 0x00]))
    await symlink(path.join(root, "other", "secret.txt"), path.join(root, "refund", "link.txt"))
    const skills = await Skills.load(root)
    expect(await reading(skills, { skill: "refund" })).toBe(
      "Look at the order first.\n\nFiles, which read_skill reads with `file`:\nlogo.bin\nreferences/limits.md"
    )
    expect(await reading(skills, { skill: "refund", file: "references/limits.md" })).toBe("At most 100.")
    for (const file of [
      "../other/secret.txt",
      path.join(root, "other", "secret.txt"),
      "link.txt",
      "references",
      "none"
    ]) {
      expect(await reading(skills, { skill: "refund", file })).toMatchObject({
        type: "error",
        reason: expect.stringContaining(`refund has no file ${file}`)
      })
    }
    expect(await reading(skills, { skill: "refund", file: "logo.bin" })).toMatchObject({
      reason: "logo.bin cannot be read: has 3 bytes, which are not text"
    })
  })

  test("SKILL2 a changed file is read as it is now, and a long text in pages", async () => {
    const root = await written("pages", { refund: { "SKILL.md": refund, "long.txt": "abcdefgh" } })
    const skills = await Skills.load(root, { bounds: { characters: 5 } })
    expect(await reading(skills, { skill: "refund", file: "long.txt" })).toBe(
      "abcde\n[3 more characters: read them with offset 5]"
    )
    expect(await reading(skills, { skill: "refund", file: "long.txt", offset: 5 })).toBe("fgh")
    expect(skills.tools[0]?.description).toMatch(/- refund$/)
    await writeFile(path.join(root, "refund", "long.txt"), "new")
    expect(await reading(skills, { skill: "refund", file: "long.txt" })).toBe("new")
    await writeFile(path.join(root, "refund", "SKILL.md"), "broken")
    expect(await reading(skills, { skill: "refund" })).toMatchObject({
      type: "error",
      reason: expect.stringContaining("begins without")
    })
  })
})

describe("SKILL3 allowed tools", () => {
  const pay = tool({ name: "pay", execute: () => "paid" })
  const close = tool({ name: "close", execute: () => "closed" })
  const server = (text: string): Skills.SkillServer => ({
    name: "remote",
    resources: async () => [{ uri: "skill://refund/SKILL.md" }, { uri: "file:///other.txt" }],
    read: async () => [{ type: "text", text }]
  })

  /** The calls that a person was asked about, while the model calls these tools in turn. */
  const askedAbout = async (
    source: Skills.SkillSource,
    calls: ReadonlyArray<readonly [name: string, args?: Record<string, unknown>]>,
    permissions: Permissions.Permissions = {}
  ) => {
    const skills = await Skills.load(source)
    const asked: Array<string> = []
    const ask = skills.ask(({ toolCall }) => {
      asked.push(toolCall.name)
      return "allow"
    })
    const adapter = Fake.make({
      scripts: [
        ...calls.map(([name, args = {}], n) => [
          { toolCall: { id: `c${n}`, name, arguments: args } },
          { finish: "tool_calls" as const }
        ]),
        [{ text: "Done." }, { finish: "stop" as const }]
      ]
    })
    const system = System.make()
    onTestFinished(() => System.stop(system))
    const troupe = await Troupe.start({
      system,
      adapter,
      tools: [pay, close, ...skills.tools],
      permissions: { ...permissions, ask }
    })
    const { thread } = await (await troupe.chat("c")).send("Refund me").result()
    const outcomes = thread.messages.flatMap((message) => (message.role === "tool" ? [message.outcome] : []))
    return { asked, outcomes }
  }

  test("a person is asked until the skill was read, and about tools that it does not name", async () => {
    const root = await written("allowed", { refund: { "SKILL.md": refund, "a.md": "a" } })
    const { asked } = await askedAbout(root, [
      ["pay"],
      ["read_skill", { skill: "refund", file: "a.md" }],
      ["pay"],
      ["read_skill", { skill: "refund" }],
      ["pay"],
      ["close"]
    ])
    expect(asked).toEqual(["pay", "read_skill", "pay", "read_skill", "close"])
  })

  test("lists and modes of the permissions apply before", async () => {
    const root = await written("lists", { refund: { "SKILL.md": refund } })
    const calls = [["read_skill", { skill: "refund" }], ["pay"]] as const
    expect((await askedAbout(root, calls, { deny: ["pay"] })).outcomes).toEqual(["completed", "denied"])
    expect((await askedAbout(root, calls, { mode: "plan" })).outcomes).toEqual(["completed", "denied"])
  })

  test("a skill of a server allows nothing unless it is trusted", async () => {
    const calls = [["read_skill", { skill: "refund" }], ["pay"]] as const
    expect((await askedAbout({ server: server(refund) }, calls)).asked).toEqual(["read_skill", "pay"])
    expect((await askedAbout({ server: server(refund), trusted: true }, calls)).asked).toEqual(["read_skill"])
  })

  test("a skill of a server without the form is left out", async () => {
    const { list, leftOut } = await Skills.load([
      { server: server("broken") },
      await written("good", { refund: { "SKILL.md": refund } })
    ])
    expect(list.map(({ name }) => name)).toEqual(["refund"])
    expect(leftOut).toMatchObject([{ reason: "invalid_skill", source: "skill://refund/SKILL.md" }])
  })
})
