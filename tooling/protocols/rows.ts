/**
 * The rows of the tables: what a request can have, what an answer can have, and what a client can do.
 *
 * @module
 */
import type { Column, Known, Protocol } from "./protocols.ts"
import { calling, finish, type Reply, saying } from "./stage.ts"

/** Part of a request: its form in each protocol that has one, and the text that the model then receives. */
export interface RequestRow {
  readonly title: string
  readonly mark: RegExp
  readonly forms: Readonly<Partial<Record<Column, { readonly content?: unknown; readonly fields?: object }>>>
}

/** Part of an answer: the model's reply that has it, and the text that the client then receives. */
export interface AnswerRow {
  readonly title: string
  readonly mark: RegExp
  readonly reply: Reply
}

/** What a client can do after the first reply, and the text that the model then receives. */
export interface ActRow {
  readonly title: string
  readonly replies: readonly [Reply, ...ReadonlyArray<Reply>]
  readonly act: (protocol: Protocol) => ((known: Known) => Promise<{ readonly text: string }>) | undefined
  /** Text of the model's last request. */
  readonly asked: RegExp
  /** Text that is not in that request. */
  readonly gone?: RegExp
  /** Text that the client receives. */
  readonly read?: RegExp
}

const image = "data:image/png;base64,iVBORw0KGgo="
const pdf = "data:application/pdf;base64,JVBERg=="
const parameters = { type: "object", properties: {}, additionalProperties: false }
const described = { name: "here", description: "Very own tool", parameters }
const schema = { ...parameters, properties: { town: { type: "string" } }, required: ["town"] }
const ask = "Look"
const uiText = { type: "text", text: ask }

const said = (content: unknown) => ({ content })
const having = (fields: object) => ({ fields })
const png = "https://example.org/a.png"
const inline = (type: string, value: string, mimeType: string) => ({ type, source: { type: "data", value, mimeType } })
const uiFile = (mediaType: string, url: string) => said([uiText, { type: "file", mediaType, url }])
const pdfFile = { filename: "a.pdf", file_data: pdf }
const wav = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }
const brief = { role: "system", content: "Be brief" }
const asking = { role: "user", content: ask }
const place = { name: "place", schema, strict: true }

const request = (title: string, mark: RegExp, forms: RequestRow["forms"]): RequestRow => ({ title, mark, forms })
/** The same fields in both protocols of OpenAI. */
const ofOpenAi = (responses: object, completions = responses): RequestRow["forms"] => ({
  responses: having(responses),
  completions: having(completions)
})

export const requestRows: ReadonlyArray<RequestRow> = [
  request("text", /Good day/, {
    aiSdk: said([{ type: "text", text: "Good day" }]),
    agUi: said("Good day"),
    responses: said("Good day"),
    completions: said("Good day")
  }),
  request("an image", /iVBORw0KGgo=/, {
    aiSdk: uiFile("image/png", image),
    agUi: said([uiText, inline("image", "iVBORw0KGgo=", "image/png")]),
    responses: said([{ type: "input_image", image_url: image }]),
    completions: said([{ type: "image_url", image_url: { url: image } }])
  }),
  request("an image by URL", /example\.org\/a\.png/, {
    aiSdk: uiFile("image/png", png),
    agUi: said([{ type: "image", source: { type: "url", value: png } }]),
    responses: said([{ type: "input_image", image_url: png }]),
    completions: said([{ type: "image_url", image_url: { url: png } }])
  }),
  request("a file", /JVBERg==/, {
    aiSdk: uiFile("application/pdf", pdf),
    agUi: said([inline("document", "JVBERg==", "application/pdf")]),
    responses: said([{ type: "input_file", ...pdfFile }]),
    completions: said([{ type: "file", file: pdfFile }])
  }),
  request("audio", /UklGRg==/, {
    aiSdk: uiFile("audio/wav", "data:audio/wav;base64,UklGRg=="),
    agUi: said([inline("audio", "UklGRg==", "audio/wav")]),
    responses: said([wav]),
    completions: said([wav])
  }),
  request("instructions", /Be brief/, {
    aiSdk: having({ system: "Be brief" }),
    agUi: having({
      messages: [
        { id: "s1", ...brief },
        { id: "u1", ...asking }
      ]
    }),
    ...ofOpenAi({ instructions: "Be brief" }, { messages: [brief, asking] })
  }),
  request("context and state", /in the garden/, {
    agUi: having({ state: { place: "in the garden" }, context: [{ description: "place", value: "in the garden" }] })
  }),
  request("tools of the client", /Very own tool/, {
    aiSdk: having({ tools: { here: { description: "Very own tool", parameters } } }),
    agUi: having({ tools: [described] }),
    ...ofOpenAi({ tools: [{ type: "function", ...described }] }, { tools: [{ type: "function", function: described }] })
  }),
  request("choice of a tool", /"toolChoice":\{"type":"required"/, ofOpenAi({ tool_choice: "required" })),
  request(
    "a strict tool of the client",
    /"strict":true/,
    ofOpenAi(
      { tools: [{ type: "function", ...described, strict: true }] },
      { tools: [{ type: "function", function: { ...described, strict: true } }] }
    )
  ),
  request("one call at a time", /"parallel_tool_calls":false/, ofOpenAi({ parallel_tool_calls: false })),
  request("model by name", /"temperature":0\.125/, ofOpenAi({ model: "fast" })),
  request(
    "temperature, length",
    /"maxOutputTokens":321.*"temperature":0\.5|"temperature":0\.5.*"maxOutputTokens":321/,
    ofOpenAi({ temperature: 0.5, max_output_tokens: 321 }, { temperature: 0.5, max_completion_tokens: 321 })
  ),
  request(
    "form of the answer",
    /"town"/,
    ofOpenAi(
      { text: { format: { type: "json_schema", ...place } } },
      { response_format: { type: "json_schema", json_schema: place } }
    )
  ),
  request(
    "reasoning effort",
    /"reasoning":"low"/,
    ofOpenAi({ reasoning: { effort: "low" } }, { reasoning_effort: "low" })
  )
]

const inText = (...parts: ReadonlyArray<Reply[number]>): Reply => [
  ...parts,
  { type: "text-delta", id: "t", delta: "Done" },
  finish()
]

const answer = (title: string, mark: RegExp, reply: Reply): AnswerRow => ({ title, mark, reply })
const source = { type: "source", sourceType: "url", id: "s1", url: "https://example.org/source" } as const
const report = { sourceType: "document", id: "s2", mediaType: "application/pdf", title: "Annual report" } as const
const fileOf = (mediaType: string): Reply[number] => ({
  type: "file",
  mediaType,
  data: { type: "data", data: "QUJDRA==" }
})
const searched = { toolCallId: "p1", toolName: "web_search" }

export const answerRows: ReadonlyArray<AnswerRow> = [
  answer("text", /Good evening/, saying("Good evening")),
  answer("reasoning", /Thinking hard/, inText({ type: "reasoning-delta", id: "r", delta: "Thinking hard" })),
  answer("an image", /QUJDRA==/, inText(fileOf("image/png"))),
  answer("a file of another type", /QUJDRA==/, inText(fileOf("application/pdf"))),
  answer("a source", /example\.org\/source/, inText(source)),
  answer("a document as source", /Annual report/, inText({ type: "source", ...report })),
  answer(
    "a call that the provider runs",
    /found it/,
    inText(
      { type: "tool-call", ...searched, input: "{}", providerExecuted: true },
      { type: "tool-result", ...searched, result: { text: "found it" } }
    )
  ),
  answer("a call of the server's tool, with its result", /half past nine/, calling("clock")),
  answer("the events of a sub-agent", /Digging deep/, calling("dig", { input: "Dig" })),
  answer("a call of a tool of the client", /very exact/, calling("where", { how: "very exact" })),
  answer("a question of a tool", /Which colour\?/, calling("ask")),
  answer("a question of a sub-agent", /Which peak\?/, calling("guide", { input: "Guide" })),
  answer("a call that waits for approval", /ninety crowns/, calling("pay", { price: "ninety crowns" })),
  answer("usage", /1234/, saying("Hi")),
  answer("the end by length", /"(?:length|max_output_tokens)"(?!:)/, [
    { type: "text-delta", id: "t", delta: "Once" },
    finish("length")
  ]),
  answer("a failure", /The model request failed/, [{ type: "error", error: "overloaded" }])
]

const act = (
  title: string,
  reply: Reply,
  acting: ActRow["act"],
  asked: RegExp,
  more: Partial<ActRow> = {}
): ActRow => ({ title, replies: [reply], act: acting, asked, ...more })

/** An act after a reply that calls a tool; the next reply is text. */
const afterCall = (title: string, name: string, acting: ActRow["act"], asked: RegExp): ActRow =>
  act(title, calling(name), acting, asked, { replies: [calling(name), saying("Fine")] })

const nice = saying("Nice day")

export const actRows: ReadonlyArray<ActRow> = [
  act("go on without repeating the history", nice, ({ goOn }) => goOn, /Hi.*Nice day.*And\?/u),
  afterCall("give the result of a tool of the client", "where", ({ result }) => result, /In Oslo/u),
  afterCall("give the error of a tool of the client", "where", ({ fail }) => fail, /No position/u),
  afterCall("answer a question", "ask", ({ answer: give }) => give, /Blue/u),
  afterCall("approve a call", "pay", ({ approve }) => approve, /the bill is paid/u),
  afterCall("deny a call, with a reason", "pay", ({ deny }) => deny, /too dear/u),
  act(
    "replace an earlier message",
    nice,
    ({ edit, goOn }) => edit && (async (known) => (await goOn(known), edit(known))),
    /Rather this/u,
    { gone: /And\?/u }
  ),
  act("ask for another answer", nice, ({ regenerate }) => regenerate, /Hi/u, { gone: /Nice day/u }),
  act("begin with a history", nice, ({ begin }) => begin, /Hello.*Hi there.*And\?/u),
  act("list the messages", nice, ({ list }) => list, /Hi/u, { read: /Hi.*Nice day/su }),
  act("list the input of an answer", nice, ({ input }) => input, /Hi/u, { read: /"Hi"/u }),
  act("delete an answer with its message", nice, ({ undo }) => undo, /Nice day.*Rather this/u, { gone: /And\?/u }),
  act("delete the conversation", nice, ({ remove }) => remove, /Hi/u, { read: /"code":"unknown_chat"/u })
]

/** A reply that stands still after its first words, and then ends. */
export const held: Reply = [
  { type: "text-delta", id: "t", delta: "Once upon" },
  "hold",
  { type: "text-delta", id: "t", delta: " a time" },
  finish()
]
