/** Skills that a server of MCP has as resources. */
import { InMemoryTransport } from "@modelcontextprotocol/client"
import { McpServer } from "@modelcontextprotocol/server"
import { Fake, tool, Troupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { expect, onTestFinished, test } from "vitest"
import { Skills } from "../../../skills/src/index.ts"
import { Mcp } from "../../src/index.ts"

const files: Readonly<Record<string, string>> = {
  "skill://refund/SKILL.md":
    "---\nname: refund\ndescription: How to refund\nallowed-tools: pay\n---\nRead limits.md first.",
  "skill://refund/limits.md": "At most 100.",
  "skill://secret.md": "secret"
}

const transport = (): InMemoryTransport => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const server = new McpServer({ name: "shop", version: "1.0.0" })
  for (const [uri, text] of Object.entries(files))
    server.registerResource(uri, uri, {}, async () => ({ contents: [{ uri, text }] }))
  void server.connect(theirs)
  return ours
}

test.each([false, true])(
  "SKILL1, SKILL3. a model reads a skill of an MCP server and its files, whose allowed tools count if it is trusted: %s",
  async (trusted) => {
    const system = System.make({ silent: true })
    onTestFinished(() => System.stop(system))
    const server = await Mcp.start(system, { transport }, { name: "shop" })
    const skills = await Skills.load({ server, trusted })
    expect(skills.list.map(({ name }) => name)).toEqual(["refund"])
    const calls = [
      ["read_skill", { skill: "refund" }],
      ["read_skill", { skill: "refund", file: "limits.md" }],
      ["read_skill", { skill: "refund", file: "../secret.md" }],
      ["pay", {}]
    ] as const
    const scripts = calls.map(([name, args], at) => [
      { toolCall: { id: `c${at}`, name, arguments: args } },
      { finish: "tool_calls" as const }
    ])
    const asked: Array<string> = []
    const troupe = await Troupe.start({
      system,
      adapter: Fake.make({ scripts: [...scripts, [{ text: "Done." }, { finish: "stop" }]] }),
      tools: [...skills.tools, tool({ name: "pay", execute: () => "paid" })],
      permissions: {
        ask: skills.ask(({ toolCall }) => {
          asked.push(toolCall.name)
          return "allow"
        })
      }
    })
    const { thread } = await (await troupe.chat("anna")).send("Refund me").result()
    const results = thread.messages.flatMap((message) => (message.role === "tool" ? [message.content] : []))
    expect(results).toEqual([
      expect.stringMatching(/^Read limits\.md first\.[^]*limits\.md$/u),
      "At most 100.",
      expect.stringContaining("has no file ../secret.md"),
      "paid"
    ])
    expect(asked.filter((name) => name === "pay")).toEqual(trusted ? [] : ["pay"])
    await troupe.stop()
  }
)
