/**
 * Tools that a provider declares and the program runs: the form of their arguments and of their results.
 *
 * PTOOL1. The result of a call of such a tool has the form that the provider reads for the tool, however the call ended: the
 *         value of the package's own shape, or a text in that shape. A provider refuses a result in another form.
 * PTOOL2. A tool whose argument is a free text gets it as `{ input }`. The text is repeated to the provider as the model wrote it.
 * PTOOL3. A result is a list of references to tools only for Anthropic, and only if the request defers each of these tools.
 * PTOOL4. A text that the form of a result has no place for, as the reason of a failure, is sent as a message of the user after the
 *         results, and so are images and files that the form has no place for, if the model reads them. A result of OpenAI's computer without an image has an image of one pixel, because the form requires one.
 * PTOOL5. Half a surrogate pair in a result, which its JSON text has as an escape, is replaced by U+FFFD: no request has one (WELL1).
 *
 * @source The tools and the output schemas of `@ai-sdk/openai`; Anthropic's custom tool search
 */
import type { JSONValue, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider"
import type { ContentPart, Message, ToolCall } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import * as z from "zod"
import { handedBack } from "./providerOptions.ts"

/** The tools of a request. */
export type Declared = Pick<Request, "tools" | "providerTools">

/** The shape of a result, and the same shape for the text of a result; `undefined` if a text has none. */
interface Form {
  readonly shape: z.ZodType
  /** Whether the form has a place for one image. */
  readonly hasImage?: boolean
  readonly ofText: (text: string, outcome: Outcome, content: ToolMessage["content"]) => JSONValue
  /** What the model reads beside the result; `undefined` if the result has the whole text (PTOOL4). */
  readonly beside?: (text: string, outcome: Outcome, content: ToolMessage["content"]) => string | undefined
}

type ToolMessage = Extract<Message.Message, { role: "tool" }>
type Outcome = NonNullable<ToolMessage["outcome"]>

const ended = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("timeout") }),
    z.object({ type: z.literal("exit"), exitCode: z.number() })
  ])
)
const commandOutput = z.lazy(() => z.object({ stdout: z.string(), stderr: z.string(), outcome: ended }))
const details = ["auto", "low", "high", "original"] as const
const screenshot = z.lazy(() =>
  z
    .object({
      type: z.literal("computer_screenshot"),
      imageUrl: z.string().optional(),
      fileId: z.string().optional(),
      detail: z.enum(details).optional()
    })
    .refine(({ imageUrl, fileId }) => imageUrl !== undefined || fileId !== undefined)
)
const checked = z.lazy(() => z.object({ id: z.string(), code: z.string().optional(), message: z.string().optional() }))

const forms: Readonly<Record<string, Form>> = {
  "openai.shell": {
    shape: z.object({ maxOutputLength: z.number().optional(), output: z.array(commandOutput) }),
    ofText: (text, outcome) => ({
      output: [
        outcome === "completed"
          ? { stdout: text, stderr: "", outcome: { type: "exit", exitCode: 0 } }
          : {
              stdout: "",
              stderr: text,
              outcome: outcome === "timed_out" ? { type: "timeout" } : { type: "exit", exitCode: 1 }
            }
      ]
    })
  },
  "openai.local_shell": { shape: z.object({ output: z.string() }), ofText: (output) => ({ output }) },
  "openai.apply_patch": {
    shape: z.object({ status: z.enum(["completed", "failed"]), output: z.string().optional() }),
    ofText: (output, outcome) => ({ status: outcome === "completed" ? "completed" : "failed", output })
  },
  "openai.tool_search": {
    shape: z.object({ tools: z.array(z.record(z.string(), z.unknown())) }),
    ofText: () => ({ tools: [] }),
    beside: (text) => `It found no tools. ${text}`
  },
  "openai.computer": {
    hasImage: true,
    shape: z.object({ output: screenshot, acknowledgedSafetyChecks: z.array(checked).optional() }),
    ofText: (_, __, content) => ({
      output: { type: "computer_screenshot", imageUrl: screenshotIn(content) ?? onePixel }
    }),
    beside: (text, outcome, content) => {
      if (screenshotIn(content) === undefined) return `There is no screenshot; the image is a placeholder. ${text}`
      const texts = typeof content === "string" ? [] : content.filter((part) => part.type === "text")
      return outcome === "completed" && texts.length === 0 ? undefined : text
    }
  }
}

const onePixel =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const screenshotIn = (content: ToolMessage["content"]): string | undefined => {
  const image = typeof content === "string" ? undefined : content.find((part) => part.type === "image")?.image
  if (image === undefined || "blob" in image) return undefined
  return "url" in image ? image.url : `data:${image.mediaType};base64,${image.base64}`
}

/** A result in the form of its tool, and what the model reads beside it. */
export interface InForm {
  readonly output: LanguageModelV4ToolResultOutput
  readonly beside?: string | undefined
  /** The images and files that the form has no place for. */
  readonly files?: ReadonlyArray<Media> | undefined
}

type Media = Extract<ContentPart, { readonly type: "image" | "file" }>

/** The result of a call in the form of its tool; `undefined` for a tool without a form of its own (PTOOL1, PTOOL3, PTOOL4). */
export const outputInForm = (
  message: ToolMessage,
  text: string,
  toolName: string | undefined,
  declared: Declared
): InForm | undefined => {
  const { content, outcome = "completed" } = message
  const form = formOf(toolName, declared)
  if (form === undefined) {
    const output = outcome === "completed" ? references(text, declared) : undefined
    return output && { output }
  }
  const value = outcome === "completed" ? parsed(text) : undefined
  if (form.shape.safeParse(value).success) return { output: { type: "json", value: value as JSONValue } }
  const beside = form.beside?.(text, outcome, content)
  const files =
    typeof content === "string" ? [] : content.filter((part) => part.type === "image" || part.type === "file")
  const first = form.hasImage === true ? files.find(({ type }) => type === "image") : undefined
  return {
    output: { type: "json", value: form.ofText(text, outcome, content) },
    ...(beside !== undefined && { beside }),
    files: files.filter((part) => part !== first)
  }
}

const formOf = (toolName: string | undefined, { providerTools }: Declared): Form | undefined => {
  const id = providerTools?.find(({ name }) => name === toolName)?.id
  return id !== undefined && Object.hasOwn(forms, id) ? forms[id] : undefined
}

const reference = z.lazy(() =>
  z.strictObject({
    type: z.literal("custom"),
    providerOptions: z.object({ anthropic: z.object({ type: z.literal("tool-reference"), toolName: z.string() }) })
  })
)
const referenceList = z.array(reference).min(1)

/** The references to deferred tools that a text is (PTOOL3). */
const references = (text: string, { tools }: Declared): LanguageModelV4ToolResultOutput | undefined => {
  if (!text.startsWith("[") || !text.includes('"tool-reference"')) return undefined
  const found = referenceList.safeParse(parsed(text)).data
  const isDeferred = ({ providerOptions }: z.infer<typeof reference>): boolean =>
    tools.some(
      ({ name, metadata }) =>
        name === providerOptions.anthropic.toolName &&
        handedBack(metadata).providerOptions?.["anthropic"]?.["deferLoading"] === true
    )
  return found?.every(isDeferred) === true ? { type: "content", value: found } : undefined
}

/** The arguments of a call that is not the program's own function: a free text becomes an object (PTOOL2). */
export const argumentsOf = (written: string): string => {
  const text = written.startsWith('"') ? parsed(written) : undefined
  return typeof text === "string" ? JSON.stringify({ input: text }) : written
}

/** The free text of a call, or `undefined` (PTOOL2). */
export const freeTextOf = (call: ToolCall.ToolCall, { providerTools }: Declared): string | undefined => {
  const input = call.arguments?.["input"]
  const isFree = providerTools?.some(({ id, name }) => id === "openai.custom" && name === call.name) === true
  return isFree && typeof input === "string" ? input : undefined
}

/** The value of a JSON text, or `undefined`. The escape of half a surrogate pair in the text becomes U+FFFD (PTOOL5). */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text, (_, value: unknown) =>
      typeof value === "string" ? value.toWellFormed() : value
    ) as unknown
  } catch {
    return undefined
  }
}
