/** Tools that a provider declares and the program runs: what the handler gets, and what the provider gets back. */
import { anthropic, createAnthropic } from "@ai-sdk/anthropic"
import { openai } from "@ai-sdk/openai"
import { Chat, Engine, error, tool, user } from "@troupe/chat"
import { describe, expect, onTestFinished, test } from "vitest"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { eventServer, sendStream } from "../loopback/eventServer.ts"
import { type Item, responsesServer } from "../loopback/responsesServer.ts"

interface Case {
  readonly provider: { readonly id: string; readonly args: Readonly<Record<string, unknown>> }
  readonly name: string
  /** The item of the call. */
  readonly call: Item
  /** The arguments of the handler. */
  readonly input: unknown
  /** What the handler returns, and the fields of the item that the provider gets. */
  readonly output: unknown
  readonly sent: Item
  /** The fields for a handler that returns the text "a text". */
  readonly ofText: Item
  /** The fields for a handler that throws "no disk". */
  readonly ofFailure: Item
}

const shellOutput = (stdout: string, stderr: string, exitCode: number) => [
  { stdout, stderr, outcome: { type: "exit", exit_code: exitCode } }
]

const cases: ReadonlyArray<Case> = [
  {
    provider: openai.tools.shell({}),
    name: "shell",
    call: {
      type: "shell_call",
      id: "sh_1",
      call_id: "call_1",
      status: "completed",
      action: { commands: ["ls"], timeout_ms: 900, max_output_length: 50 }
    },
    input: { action: { commands: ["ls"], timeoutMs: 900, maxOutputLength: 50 } },
    output: { maxOutputLength: 50, output: [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exitCode: 0 } }] },
    sent: { type: "shell_call_output", call_id: "call_1", max_output_length: 50, output: shellOutput("a.txt", "", 0) },
    ofText: { type: "shell_call_output", call_id: "call_1", output: shellOutput("a text", "", 0) },
    ofFailure: { type: "shell_call_output", call_id: "call_1", output: shellOutput("", "Error: no disk", 1) }
  },
  {
    provider: openai.tools.localShell({}),
    name: "terminal",
    call: {
      type: "local_shell_call",
      id: "lsh_1",
      call_id: "call_1",
      status: "completed",
      action: { type: "exec", command: ["ls", "-a"], env: {} }
    },
    input: { action: { type: "exec", command: ["ls", "-a"], env: {} } },
    output: { output: "a.txt" },
    sent: { type: "local_shell_call_output", call_id: "call_1", output: "a.txt" },
    ofText: { type: "local_shell_call_output", call_id: "call_1", output: "a text" },
    ofFailure: { type: "local_shell_call_output", call_id: "call_1", output: "Error: no disk" }
  },
  {
    provider: openai.tools.applyPatch({}),
    name: "apply_patch",
    call: {
      type: "apply_patch_call",
      id: "apc_1",
      call_id: "call_1",
      status: "completed",
      operation: { type: "delete_file", path: "old.txt" }
    },
    input: { callId: "call_1", operation: { type: "delete_file", path: "old.txt" } },
    output: { status: "completed", output: "Deleted." },
    sent: { type: "apply_patch_call_output", call_id: "call_1", status: "completed", output: "Deleted." },
    ofText: { type: "apply_patch_call_output", call_id: "call_1", status: "completed", output: "a text" },
    ofFailure: { type: "apply_patch_call_output", call_id: "call_1", status: "failed", output: "Error: no disk" }
  },
  {
    provider: openai.tools.toolSearch({ execution: "client", description: "Finds tools", parameters: {} }),
    name: "find_tools",
    call: {
      type: "tool_search_call",
      id: "tsc_1",
      call_id: "call_1",
      status: "completed",
      execution: "client",
      arguments: { goal: "weather" }
    },
    input: { arguments: { goal: "weather" }, call_id: "call_1" },
    output: { tools: [{ type: "function", name: "weather", description: "", parameters: {} }] },
    sent: {
      type: "tool_search_output",
      execution: "client",
      call_id: "call_1",
      status: "completed",
      tools: [{ type: "function", name: "weather", description: "", parameters: {} }]
    },
    ofText: { type: "tool_search_output", execution: "client", call_id: "call_1", status: "completed", tools: [] },
    ofFailure: { type: "tool_search_output", execution: "client", call_id: "call_1", status: "completed", tools: [] }
  },
  {
    provider: openai.tools.customTool({ format: { type: "grammar", syntax: "regex", definition: "SELECT .+" } }),
    name: "write_sql",
    call: {
      type: "custom_tool_call",
      id: "ct_1",
      call_id: "call_1",
      name: "write_sql",
      status: "completed",
      input: 'SELECT "a" FROM b'
    },
    input: { input: 'SELECT "a" FROM b' },
    output: { rows: 3 },
    sent: { type: "custom_tool_call_output", call_id: "call_1", output: '{"rows":3}' },
    ofText: { type: "custom_tool_call_output", call_id: "call_1", output: "a text" },
    ofFailure: { type: "custom_tool_call_output", call_id: "call_1", output: '{"error":"Error: no disk"}' }
  }
]

/** What the model reads beside the result of a search that found no tools: its form has no place for a text (PTOOL4). */
const besideOf = ({ name }: Case, text: string): ReadonlyArray<Item> =>
  name === "find_tools" ? [saysUser(`The result of the call call_1 of find_tools: It found no tools. ${text}`)] : []

const saysUser = (text: string): Item => ({ role: "user", content: [{ type: "input_text", text }] })

/** Runs a turn whose first reply is the call, and returns the arguments of the handler and the second request's items. */
const run = async (
  { provider, name, call }: Case,
  answer: () => unknown,
  providerOptions: Readonly<Record<string, unknown>> = {}
) => {
  const server = await responsesServer([call])
  onTestFinished(() => server.stop())
  const inputs: Array<unknown> = []
  const execute = (input: unknown) => {
    inputs.push(input)
    return answer()
  }
  const engine = Engine.make({ adapter: aiSdk(server.model), tools: [tool({ name, provider, execute })] })
  const { haltedReason, finalResponse, metadata } = await Chat.run(engine, [user("Go")], { providerOptions })
  if (haltedReason === "error") throw metadata["error"]
  expect([haltedReason, finalResponse?.outputText]).toEqual(["completed", "Done."])
  const [, ...items] = (server.bodies[1]?.["input"] ?? []) as ReadonlyArray<Item>
  return { inputs, items }
}

describe("PTOOL1. a call of a provider's tool that the program runs is answered in the form of the tool", () => {
  test.each(cases)("$provider.id, with what the handler returned", async (one) => {
    const { inputs, items } = await run(one, () => one.output)
    expect(inputs).toEqual([one.input])
    expect(items).toEqual([{ type: "item_reference", id: one.call["id"] }, one.sent])
  })

  test.each(cases)("$provider.id, with a text that the handler returned", async (one) => {
    expect((await run(one, () => "a text")).items.slice(1)).toEqual([one.ofText, ...besideOf(one, "a text")])
  })

  test.each(cases)("$provider.id, with the reason of a failure", async (one) => {
    const { items } = await run(one, () => error("no disk"))
    expect(items.slice(1)).toEqual([one.ofFailure, ...besideOf(one, "Error: no disk")])
  })

  test.each(cases)("$provider.id, after its call, for a provider that stores nothing", async (one) => {
    const { items } = await run(one, () => one.output, { store: false })
    expect(items).toHaveLength(2)
    expect(items[0]).toMatchObject({ type: one.call["type"], call_id: "call_1" })
    expect(items[1]).toEqual(one.sent)
  })

  const png = "iVBORw0KGgo="
  const shot = { type: "computer_screenshot", image_url: `data:image/png;base64,${png}` }
  const check = { id: "check_1" }
  const asked = { actions: [{ type: "screenshot" }], pending_safety_checks: [check] }
  const screen: Case = {
    ...(cases[0] as Case),
    provider: openai.tools.computer({}),
    name: "screen",
    call: { type: "computer_call", id: "cu_1", call_id: "call_1", status: "completed", ...asked }
  }
  const image = { type: "image", image: { base64: png, mediaType: "image/png" } } as const

  const otherPng = "iVBORw0KGgoAAA=="
  const other = { type: "image", image: { base64: otherPng, mediaType: "image/png" } } as const

  test.each([
    ["an image", [image], { output: shot }],
    [
      "its own shape",
      { output: { type: shot.type, imageUrl: shot.image_url }, acknowledgedSafetyChecks: [check] },
      { output: shot, acknowledged_safety_checks: [check] }
    ]
  ])("openai.computer, with %s", async (_, output, sent) => {
    const { inputs, items } = await run(screen, () => output)
    expect(inputs).toMatchObject([{ actions: asked.actions, pendingSafetyChecks: [check] }])
    expect(items.at(-1)).toEqual({ type: "computer_call_output", call_id: "call_1", ...sent })
  })

  const pixel = { type: "computer_screenshot", image_url: expect.stringMatching(/^data:image\/png;base64,.{20,200}$/) }
  const none = "There is no screenshot; the image is a placeholder."

  test.each([
    ["a failure without an image", () => error("no disk"), pixel, `${none} Error: no disk`],
    [
      "an exception",
      () => Promise.reject(new Error("no disk")),
      pixel,
      `${none} Error: handler_raised: the handler of screen raised: no disk`
    ],
    ["a text", () => "clicked", pixel, `${none} clicked`],
    [
      "an image and a text",
      () => [{ type: "text", text: "It is slow." }, image],
      shot,
      "It is slow.\n[image image/png, 8 B]"
    ]
  ])(
    "PTOOL4. openai.computer, with %s: an image, and the text in a message after it",
    async (_, answer, sent, text) => {
      const { items } = await run(screen, answer)
      expect(items.slice(1)).toEqual([
        { type: "computer_call_output", call_id: "call_1", output: sent },
        saysUser(`The result of the call call_1 of screen: ${text}`)
      ])
    }
  )

  test.each<[string, Case, ReadonlyArray<object>, string]>([
    ["openai.computer", screen, [image, other], "it has these images and files, too"],
    [
      "openai.computer, with a text",
      screen,
      [{ type: "text", text: "Two." }, image, other],
      "Two.\n[image image/png, 8 B]\n[image image/png, 10 B]"
    ],
    ["openai.shell", cases[0] as Case, [other], "it has these images and files, too"]
  ])("PTOOL4. images of %s that its form has no place for follow the results", async (_, one, answer, text) => {
    const { items } = await run(one, () => answer)
    expect(items.at(-1)).toEqual({
      role: "user",
      content: [
        { type: "input_text", text: `The result of the call call_1 of ${one.name}: ${text}` },
        { type: "input_image", image_url: `data:image/png;base64,${otherPng}` }
      ]
    })
  })

  test.each<[string, unknown]>([
    ["in the shape of the tool", { output: "a\ud83d" }],
    ["as JSON text", String.raw`{"output":"a\ud83d"}`],
    ["as a text", "a\ud83d"]
  ])("PTOOL5. half a surrogate pair of a result %s is replaced in the request", async (_, output) => {
    const { items } = await run(cases[1] as Case, () => output)
    expect(items.at(-1)).toMatchObject({ type: "local_shell_call_output", output: "a\ufffd" })
  })

  test("a tool whose package knows it only by another name is refused with that name", async () => {
    const [, , patch] = cases
    const refused = run({ ...(patch as Case), name: "patch" }, () => "a text")
    await expect(refused).rejects.toThrow('"apply_patch"')
  })
})

describe("PTOOL2. a free text", () => {
  test("is repeated to the provider as the model wrote it", async () => {
    const one = cases.at(-1) as Case
    const { items } = await run(one, () => "a text", { store: false })
    expect(items[0]).toMatchObject({ type: "custom_tool_call", name: "write_sql", input: one.call["input"] })
  })
})

describe("PTOOL3. the tools that a search of the program found", () => {
  const reference = (toolName: string) => ({
    type: "custom",
    providerOptions: { anthropic: { type: "tool-reference", toolName } }
  })
  const reply = (content: object, delta: object, stopReason: string) => [
    {
      type: "message_start",
      message: { id: "msg_1", type: "message", role: "assistant", content: [], model: "claude", usage: usage }
    },
    { type: "content_block_start", index: 0, content_block: content },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stopReason }, usage },
    { type: "message_stop" }
  ]
  const usage = { input_tokens: 5, output_tokens: 3 }

  test.each([
    ["deferred tools", ["weather"], [{ type: "tool_reference", tool_name: "weather" }]],
    ["another tool", ["search"], JSON.stringify([reference("search")])]
  ])("are sent to Anthropic as references for %s", async (_, found, content) => {
    const replies = [
      reply({ type: "tool_use", id: "toolu_1", name: "search", input: {} }, inputDelta('{"query":"rain"}'), "tool_use"),
      reply({ type: "text", text: "" }, { type: "text_delta", text: "Done." }, "end_turn")
    ]
    const server = await eventServer((response, index) => sendStream(response, replies[index] ?? []))
    onTestFinished(() => server.stop())
    const deferred = { providerOptions: { anthropic: { deferLoading: true } } }
    const tools = [
      tool({ name: "weather", metadata: deferred, execute: () => "rain" }),
      tool({ name: "search", execute: () => found.map(reference) })
    ]
    const model = createAnthropic({ apiKey: "none", baseURL: server.url })("claude-sonnet-4-5")
    const { haltedReason } = await Chat.run(Engine.make({ adapter: aiSdk(model), tools }), [user("Go")])
    expect(haltedReason).toBe("completed")
    const messages = server.bodies[1]?.["messages"] as ReadonlyArray<{ readonly content: unknown }>
    expect(messages.at(-1)?.content).toEqual([{ type: "tool_result", tool_use_id: "toolu_1", content }])
  })

  const inputDelta = (json: string) => ({ type: "input_json_delta", partial_json: json })
})

describe("a tool of a package, with the function that runs it", () => {
  test("checks the arguments by the schema of the package", async () => {
    const bash = tool({ name: "bash", provider: anthropic.tools.bash_20250124({}), execute: () => "" })
    expect(await bash.parse({ command: 3 })).toMatchObject({ valid: false, issues: [{ path: "command" }] })
    expect(await bash.parse({ command: "ls" })).toMatchObject({ valid: true })
    expect(bash.provider).toEqual({ id: "anthropic.bash_20250124", args: {} })
  })
})
