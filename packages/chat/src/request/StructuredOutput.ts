/**
 * Structured output: asks a model for an answer of a schema, and parses the answer.
 *
 * @module
 */
import { type Finding, ValidationError } from "../errors/index.ts"
import { PartialJson, unfenced } from "../json/index.ts"
import { type Parameters, pathOf, validate } from "../tool/index.ts"
import * as Responses from "../model/Response.ts"
import type { Response } from "../model/index.ts"
import type { ChatResult } from "../record/index.ts"
import { describe } from "../values/index.ts"

export { formatOf as format } from "../options/index.ts"

/** The finish reasons of incomplete replies. */
const incomplete: ReadonlySet<unknown> = new Set(["length", "content_filter", "tool_calls", "error"])

/**
 * Reads the text of a response, or of the final response of a turn, as JSON of this schema. The JSON may be in a code fence.
 *
 * **Errors**: rejects with a `ValidationError` (`invalid_output`) when the reply is not complete, is not JSON, or does not
 * fit the schema, and when the turn has no final answer. `errors` has the paths, `metadata.text` the text of the reply, and
 * `metadata.response` or `metadata.result` the response or the result itself.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Chat, Engine, Fake, user } from "@troupe/chat"
 * import { StructuredOutput } from "@troupe/chat/models"
 * import * as z from "zod"
 *
 * const City = z.object({ name: z.string() })
 * const adapter = Fake.make({ script: [{ text: '{"name":"Oslo"}' }, { finish: "stop" }] })
 * const responseFormat = StructuredOutput.format("city", City)
 * const response = await Chat.generate(Engine.make({ adapter }), [user("Norway's capital?")], { responseFormat })
 * const city = await StructuredOutput.parse(response, City)
 * city.name // => "Oslo"
 * ```
 */
export const parse = async <A = unknown>(answer: Response | ChatResult, schema: Parameters<A>): Promise<A> => {
  const { response, whole, end } = answerIn(answer)
  const said = response === undefined ? "" : Responses.text(response)
  const invalid = (errors: ReadonlyArray<Finding>, cause?: unknown): ValidationError =>
    new ValidationError("invalid_output", errors, { cause, metadata: { text: said, ...whole } })
  if (end !== undefined) throw invalid([end.finding], end.error)
  let value: unknown
  try {
    value = JSON.parse(unfenced(said))
  } catch (cause) {
    throw invalid([{ field: ["outputText"], reason: `is no JSON: ${describe(cause)}` }], cause)
  }
  const result = await validate(schema, value)
  if (result.issues === undefined) return result.value as A
  throw invalid(result.issues.map((issue) => ({ field: pathOf(issue), reason: issue.message })))
}

/** An answer: its response, and why it is not a final answer. */
interface Answer {
  readonly response: Response | undefined
  readonly whole: Readonly<Record<string, unknown>>
  readonly end: { readonly finding: Finding; readonly error: unknown } | undefined
}

const answerIn = (answer: Response | ChatResult): Answer => {
  if (!("haltedReason" in answer)) return { response: answer, whole: { response: answer }, end: endOf(answer) }
  const { finalResponse: response, haltedReason, metadata } = answer
  const finding = { field: ["haltedReason"], reason: `the turn ended with ${haltedReason}` }
  const isOver = haltedReason === "completed" && response !== undefined
  return {
    response,
    whole: { result: answer },
    end: isOver ? endOf(response) : { finding, error: metadata["error"] }
  }
}

const endOf = ({ finishReason, metadata }: Response): Answer["end"] =>
  incomplete.has(finishReason)
    ? {
        finding: { field: ["finishReason"], reason: `the reply ended with ${finishReason}` },
        error: metadata["error"]
      }
    : undefined

/** The part of an answer that has come: each field may be missing, and each text may be a beginning. */
type PartialOf<A> = unknown extends A
  ? unknown
  : A extends string
    ? string
    : A extends ReadonlyArray<infer Item>
      ? ReadonlyArray<PartialOf<Item>>
      : A extends object
        ? { readonly [Key in keyof A]?: PartialOf<A[Key]> }
        : A

/** A reader of a reply that streams as JSON. */
interface PartialReader<A> {
  /** Reads the next fragment of the text. */
  readonly push: (delta: string) => void
  /** The answer so far; `undefined` before it has a value. A value never changes after it was read. */
  readonly value: PartialOf<A> | undefined
}

/**
 * Makes a reader of a reply that streams: the value of the JSON text so far, which nothing has validated. The schema gives
 * the type only.
 *
 * **Details**: a text grows; numbers, `true`, `false`, `null` and fields appear when they are complete. After text that is
 * not JSON the value stays as it is. The line that opens a code fence is skipped. A list of 1,024 members or more shows its members in blocks of about a hundredth.
 *
 * @example
 * ```ts import.meta.vitest
 * import { StructuredOutput } from "@troupe/chat/models"
 * import * as z from "zod"
 *
 * const City = z.object({ name: z.string(), sights: z.array(z.string()) })
 * const reader = StructuredOutput.partial(City)
 * reader.push('{"name":"Oslo","sights":["The Ope')
 * reader.value // => { name: "Oslo", sights: ["The Ope"] }
 * reader.push('ra","The Fjord"]}')
 * reader.value // => { name: "Oslo", sights: ["The Opera", "The Fjord"] }
 * ```
 */
export const partial = <A = unknown>(_schema?: Parameters<A>): PartialReader<A> => {
  const json = new PartialJson()
  return {
    push: (delta) => json.push(delta),
    get value() {
      return json.value as PartialOf<A> | undefined
    }
  }
}
