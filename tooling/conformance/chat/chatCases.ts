/** The cases of `{ area, cases }` files. */
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"

/** One case: its input, its call, its expectation. */
export interface ChatCase {
  readonly id: string
  readonly given: Fields
  readonly when: string
  readonly then: Fields
  readonly elixir_only?: boolean
  readonly optional?: boolean
}

/** The cases of a file, and the ids of the ill-formed ones. */
export const chatCasesOf = (content: unknown): ReadonlyArray<ChatCase | { readonly illFormed: string }> =>
  listOf(fieldsOf(content)["cases"]).map((one) => (isCase(one) ? one : { illFormed: textOf(fieldsOf(one)["id"]) }))

const isCase = (value: unknown): value is ChatCase => {
  const { id, given, when, then } = fieldsOf(value)
  return typeof id === "string" && typeof when === "string" && isFields(given) && isFields(then)
}
