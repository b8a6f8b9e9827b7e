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
}

const image = "data:image/png;base64,iVBORw0KGgo="
const pdf = "data:application/pdf;base64,JVBERg=="
const parameters = { type: "object", properties: {}, additionalProperties: false }
const described = { name: "here", description: "Very own tool", parameters }
const schema = {
  type: "object",
  properties: { town: { type: "string" } },
  required: ["town"],
  additionalProperties: false
}
const ask = "Look"
const uiText = { type: "text", text: ask }

export const requestRows: ReadonlyArray<RequestRow> = [
  {
    title: "text",
    mark: /Good day/,
    forms: {
      aiSdk: { content: [{ type: "text", text: "Good day" }] },
      agUi: { content: "Good day" },
      responses: { content: "Good day" },
      completions: { content: "Good day" }
    }
  },
  {
    title: "an image",
    mark: /iVBORw0KGgo=/,
    forms: {
      aiSdk: { content: [uiText, { type: "file", mediaType: "image/png", url: image }] },
      agUi: {
        content: [uiText, { type: "image", source: { type: "data", value: "iVBORw0KGgo=", mimeType: "image/png" } }]
      },
      responses: { content: [{ type: "input_image", image_url: image }] },
      completions: { content: [{ type: "image_url", image_url: { url: image } }] }
    }
  },
  {
    title: "an image by URL",
    mark: /example\.org\/a\.png/,
    forms: {
      aiSdk: { content: [uiText, { type: "file", mediaType: "image/png", url: "https://example.org/a.png" }] },
      agUi: { content: [{ type: "image", source: { type: "url", value: "https://example.org/a.png" } }] },
      responses: { content: [{ type: "input_image", image_url: "https://example.org/a.png" }] },
      completions: { content: [{ type: "image_url", image_url: { url: "https://example.org/a.png" } }] }
    }
  },
  {
    title: "a file",
    mark: /JVBERg==/,
    forms: {
      aiSdk: { content: [uiText, { type: "file", mediaType: "application/pdf", url: pdf }] },
      agUi: {
        content: [{ type: "document", source: { type: "data", value: "JVBERg==", mimeType: "application/pdf" } }]
      },
      responses: { content: [{ type: "input_file", filename: "a.pdf", file_data: pdf }] },
      completions: { content: [{ type: "file", file: { filename: "a.pdf", file_data: pdf } }] }
    }
  },
  {
    title: "audio",
    mark: /UklGRg==/,
    forms: {
      aiSdk: { content: [uiText, { type: "file", mediaType: "audio/wav", url: "data:audio/wav;base64,UklGRg==" }] },
      agUi: { content: [{ type: "audio", source: { type: "data", value: "UklGRg==", mimeType: "audio/wav" } }] },
      responses: { content: [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }] },
      completions: { content: [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }] }
    }
  },
  {
    title: "instructions",
    mark: /Be brief/,
    forms: {
      aiSdk: { fields: { system: "Be brief" } },
      agUi: {
        fields: {
          messages: [
            { id: "s1", role: "system", content: "Be brief" },
            { id: "u1", role: "user", content: ask }
          ]
        }
      },
      responses: { fields: { instructions: "Be brief" } },
      completions: {
        fields: {
          messages: [
            { role: "system", content: "Be brief" },
            { role: "user", content: ask }
          ]
        }
      }
    }
  },
  {
    title: "context and state",
    mark: /in the garden/,
    forms: {
      agUi: {
        fields: { state: { place: "in the garden" }, context: [{ description: "place", value: "in the garden" }] }
      }
    }
  },
  {
    title: "tools of the client",
    mark: /Very own tool/,
    forms: {
      aiSdk: { fields: { tools: { here: { description: "Very own tool", parameters } } } },
      agUi: { fields: { tools: [described] } },
      responses: { fields: { tools: [{ type: "function", ...described }] } },
      completions: { fields: { tools: [{ type: "function", function: described }] } }
    }
  },
  {
    title: "choice of a tool",
    mark: /"toolChoice":\{"type":"required"/,
    forms: {
      responses: { fields: { tool_choice: "required" } },
      completions: { fields: { tool_choice: "required" } }
    }
  },
  {
    title: "model by name",
    mark: /"temperature":0\.125/,
    forms: { responses: { fields: { model: "fast" } }, completions: { fields: { model: "fast" } } }
  },
  {
    title: "temperature, length",
    mark: /"maxOutputTokens":321.*"temperature":0\.5|"temperature":0\.5.*"maxOutputTokens":321/,
    forms: {
      responses: { fields: { temperature: 0.5, max_output_tokens: 321 } },
      completions: { fields: { temperature: 0.5, max_completion_tokens: 321 } }
    }
  },
  {
    title: "form of the answer",
    mark: /"town"/,
    forms: {
      responses: { fields: { text: { format: { type: "json_schema", name: "place", schema, strict: true } } } },
      completions: {
        fields: { response_format: { type: "json_schema", json_schema: { name: "place", schema, strict: true } } }
      }
    }
  },
  {
    title: "reasoning effort",
    mark: /"reasoning":"low"/,
    forms: {
      responses: { fields: { reasoning: { effort: "low" } } },
      completions: { fields: { reasoning_effort: "low" } }
    }
  }
]

const inText = (...parts: ReadonlyArray<Reply[number]>): Reply => [
  ...parts,
  { type: "text-delta", id: "t", delta: "Done" },
  finish()
]

export const answerRows: ReadonlyArray<AnswerRow> = [
  { title: "text", mark: /Good evening/, reply: saying("Good evening") },
  {
    title: "reasoning",
    mark: /Thinking hard/,
    reply: inText({ type: "reasoning-delta", id: "r", delta: "Thinking hard" })
  },
  {
    title: "an image or a file",
    mark: /QUJDRA==/,
    reply: inText({ type: "file", mediaType: "image/png", data: { type: "data", data: "QUJDRA==" } })
  },
  {
    title: "a source",
    mark: /example\.org\/source/,
    reply: inText({ type: "source", sourceType: "url", id: "s1", url: "https://example.org/source" })
  },
  {
    title: "a document as source",
    mark: /Annual report/,
    reply: inText({
      type: "source",
      sourceType: "document",
      id: "s2",
      mediaType: "application/pdf",
      title: "Annual report"
    })
  },
  {
    title: "a call that the provider runs",
    mark: /found it/,
    reply: inText(
      { type: "tool-call", toolCallId: "p1", toolName: "web_search", input: "{}", providerExecuted: true },
      { type: "tool-result", toolCallId: "p1", toolName: "web_search", result: { text: "found it" } }
    )
  },
  { title: "a call of the server's tool, with its result", mark: /half past nine/, reply: calling("clock") },
  { title: "the events of a sub-agent", mark: /Digging deep/, reply: calling("dig", { input: "Dig" }) },
  { title: "a call of a tool of the client", mark: /very exact/, reply: calling("where", { how: "very exact" }) },
  { title: "a question of a tool", mark: /Which colour\?/, reply: calling("ask") },
  { title: "a question of a sub-agent", mark: /Which peak\?/, reply: calling("guide", { input: "Guide" }) },
  { title: "a call that waits for approval", mark: /ninety crowns/, reply: calling("pay", { price: "ninety crowns" }) },
  { title: "usage", mark: /1234/, reply: saying("Hi") },
  {
    title: "the end by length",
    mark: /"(?:length|max_output_tokens)"(?!:)/,
    reply: [{ type: "text-delta", id: "t", delta: "Once" }, finish("length")]
  },
  { title: "a failure", mark: /The model request failed/, reply: [{ type: "error", error: "overloaded" }] }
]

export const actRows: ReadonlyArray<ActRow> = [
  {
    title: "go on without repeating the history",
    replies: [saying("Nice day")],
    act: ({ goOn }) => goOn,
    asked: /Hi.*Nice day.*And\?/u
  },
  {
    title: "give the result of a tool of the client",
    replies: [calling("where"), saying("Fine")],
    act: ({ result }) => result,
    asked: /In Oslo/u
  },
  {
    title: "answer a question",
    replies: [calling("ask"), saying("Fine")],
    act: ({ answer }) => answer,
    asked: /Blue/u
  },
  {
    title: "approve a call",
    replies: [calling("pay"), saying("Fine")],
    act: ({ approve }) => approve,
    asked: /the bill is paid/u
  },
  {
    title: "deny a call, with a reason",
    replies: [calling("pay"), saying("Fine")],
    act: ({ deny }) => deny,
    asked: /too dear/u
  },
  {
    title: "replace an earlier message",
    replies: [saying("Nice day")],
    act: ({ edit, goOn }) => edit && (async (known) => (await goOn(known), edit(known))),
    asked: /Rather this/u,
    gone: /And\?/u
  },
  {
    title: "ask for another answer",
    replies: [saying("Nice day")],
    act: ({ regenerate }) => regenerate,
    asked: /Hi/u,
    gone: /Nice day/u
  }
]

/** A reply that stands still after its first words, and then ends. */
export const held: Reply = [
  { type: "text-delta", id: "t", delta: "Once upon" },
  "hold",
  { type: "text-delta", id: "t", delta: " a time" },
  finish()
]
