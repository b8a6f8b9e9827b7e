import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { practiceSuite } from "../../conformance/practice/practiceSuite.ts"
import { reportOf, runSuite } from "../../conformance/runner/runSuite.ts"

type Input = Readonly<Record<string, unknown>>

const chunk = (delta: object, finish: string | null = null) => ({
  id: "1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }]
})
const says = (content: string) => [chunk({ content }, "stop"), "[DONE]"]
const calls = (name: string, args: string) => [
  chunk({ tool_calls: [{ index: 0, id: "k1", type: "function", function: { name, arguments: args } }] }, "tool_calls")
]
const chat = { kind: "wire", dialect: "chat" }
const gemini = (text: string) => [
  { candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }] }
]
const lookUp = {
  ...chat,
  replies: [calls("look", '{"at": "sea"}'), says("blue")],
  tools: { look: { returns: "waves" } }
}
const asking = {
  kind: "scene",
  script: [["call pay", "finish tool_calls"], "text paid"],
  tools: { pay: "asks the user: Sure?" }
}
const team = (last: unknown) => ({
  kind: "scene",
  parent: [["call child", "finish tool_calls"], "text so"],
  child: [last]
})
const schema = (outcome: string) => ({
  kind: "schema",
  parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  cases: [
    { arguments: { n: 1 }, outcome: "completed" },
    { arguments: { n: "1" }, outcome }
  ],
  right: "see `outcome`"
})
const provided = (output: object) => ({
  kind: "parts",
  replies: [
    [
      { type: "tool-call", toolCallId: "p", toolName: "search", input: "{}", ...output },
      { type: "tool-result", toolCallId: "p", toolName: "search", result: { hits: 3 } },
      { type: "text-delta", id: "t", delta: "three" },
      { type: "finish", usage: { inputTokens: {}, outputTokens: {} }, finishReason: { unified: "stop", raw: "stop" } }
    ]
  ],
  tools: { search: { provider: { id: "scripted.search", name: "search", args: {} } } },
  right: "no call for the program; a live client sees one tool part of the provider with its output"
})
const delayed = {
  kind: "scene",
  steps: ["start; 30 ms later store `persisted` as JSON; kill", "start from the JSON; wait 1 s"]
}

/** Inputs that are right, each with changes that make it wrong. */
const inputs: Readonly<Record<string, readonly [right: Input, wrong: Input]>> = {
  "a reply of text": [{ ...chat, replies: [says("hello")], right: "1 request, text `hello`" }, { right: "text `bye`" }],
  "a call and its result": [
    {
      ...lookUp,
      right: "one call with {at: sea}; runs once; request 2 has waves; request 2 repeats the text of the model"
    },
    { right: "runs twice" }
  ],
  "a repeated frame": [
    { ...chat, replies: [[{ repeat: 3, frame: chunk({ content: "ha" }) }, ...says("!")]], right: "text `hahaha!`" },
    { right: "text `ha!`" }
  ],
  "a refusal before the reply": [
    { ...chat, replies: [{ status: 503 }, says("well")], right: "2 requests, text ends with `well`" },
    { retry: { maxAttempts: 1 } }
  ],
  "a reply that is cut": [
    { ...chat, replies: [[chunk({ content: "ha" }), "CUT"]], right: "ends with `error`; text `ha`" },
    { replies: [says("ha")] }
  ],
  "a reply that hangs": [
    {
      ...chat,
      replies: [[chunk({ content: "ha" }), "HANG"]],
      then: "cancel after the first text",
      right: "ends with `cancelled`"
    },
    { right: "completed" }
  ],
  "a system message in the middle": [
    { kind: "wire", dialect: "gemini", replies: [gemini("a")], right: "completed" },
    { hooks: { PreIteration: "inject a system message" } }
  ],
  "a tool of the provider": [provided({ providerExecuted: true }), provided({})],
  "a schema": [schema("invalid"), schema("completed")],
  "a question": [
    {
      ...asking,
      options: { answer: "tool_result" },
      steps: ["send A: pay", "answer yes"],
      right: "completed; ran: pay once"
    },
    { steps: ["send A: pay"] }
  ],
  "an answer of a sub-agent": [
    { ...team("text `four`, finish length"), right: "`five` is not the result of the call" },
    { right: "`four` is not the result of the call" }
  ],
  "a sub-agent that fails": [{ ...team("text a, cut"), right: "the call is `failed`, or runs twice" }, team("text a")],
  "ids for a provider": [
    {
      kind: "scene",
      thread: ["user a", "assistant: call id `abcdefghi`, tool get", "tool result of it", "assistant b"],
      steps: ["send `c` with a model of Mistral"],
      right: "call and result have one id of the form [a-z]{9}"
    },
    { right: "call and result have one id of the form [A-Z]{9}" }
  ],
  "an empty message": [
    { kind: "scene", steps: ["send ``"], right: "refused as an empty one is" },
    { steps: ["send `a`"] }
  ],
  "a hosted machine": [
    { ...delayed, machine: "off --after 50 ms--> on, hosted", right: "state on" },
    { right: "state off" }
  ],
  "a wait": [
    {
      kind: "scene",
      steps: ["429 with retry-after: 90"],
      retry: { maxAttempts: 1 },
      right: "it fails with the time in the error"
    },
    { retry: { maxAttempts: 2 } }
  ],
  // The laws hold whatever the right value is.
  "half a surrogate pair": [{ ...lookUp, right: "completed" }, { tools: { look: { returns: "half \ud83d" } } }],
  "a blank text": [
    { ...chat, replies: [says("a"), says("b")], then: "more", right: "2 requests" },
    { replies: [says(" \n"), says("b")] }
  ]
}

const findingOf = async (input: Input): Promise<ReadonlyArray<unknown>> => {
  const [one] = practiceSuite.casesOf(input, "any")
  return [await one?.run("real")].flat()
}

it.each(Object.entries(inputs))(
  "PRACTICE1 %s passes when it is right, and fails when it is not",
  async (_, [right, wrong]) => {
    expect(await findingOf(right)).toEqual([])
    const [found] = await findingOf({ ...right, ...wrong })
    expect(found).toEqual({ path: expect.any(String), message: expect.any(String) })
  }
)

it("counts apart the inputs with words or fields that the runner does not know", async () => {
  const folder = mkdtempSync(join(tmpdir(), "practice-"))
  const put = (name: string, input: Input) => writeFileSync(join(folder, `${name}.json`), JSON.stringify(input))
  put("a", { kind: "scene", steps: ["sing"], right: "completed" })
  put("b", { kind: "scene", right: "the moon is full" })
  put("c", { kind: "scene", weather: "rain", right: "completed" })
  put("d", { kind: "scene", right: "completed" })
  const { lines } = reportOf(await runSuite(practiceSuite, [], folder, { clock: "real" }), true)
  rmSync(folder, { recursive: true })
  expect(lines.slice(0, 3)).toEqual([
    "not examined, the words “sing”: a",
    "not examined, the facets the moon is full: b",
    "not examined, the field weather: c"
  ])
  expect(lines.at(-1)).toBe("1 passed, 0 failed, 3 not examined")
})
