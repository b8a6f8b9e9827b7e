/** Reads the requests of every dialect, and the frames of its replies, in one way. */
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"

/** One message of a request, or one item: its texts, the ids of its calls, and its results by call. */
export interface Item {
  readonly role: string
  readonly texts: ReadonlyArray<string>
  readonly calls: ReadonlyArray<string>
  readonly results: ReadonlyArray<{ readonly id: string; readonly text: string }>
  /** Whether it has content of any other kind, such as an image. */
  readonly hasMore: boolean
  readonly raw: Fields
}

const callTypes = ["tool_use", "tool-call", "function_call", "custom_tool_call"]
const resultTypes = ["tool_result", "tool-result", "function_call_output", "custom_tool_call_output"]

const idOf = (node: Fields): string =>
  textOf(
    node["call_id"] ?? node["toolCallId"] ?? node["tool_use_id"] ?? node["tool_call_id"] ?? node["id"] ?? node["name"]
  )

/** The text of the result of a call, whatever form it has. */
const resultText = (node: Fields): string => {
  const content = node["output"] ?? node["content"] ?? node["response"]
  if (typeof content === "string") return content
  const { value, type } = fieldsOf(content)
  if (typeof value === "string" || type !== undefined) return textOf(value)
  const texts = listOf(content).map((part) => fieldsOf(part)["text"])
  return texts.some((text) => text !== undefined) ? texts.map(textOf).join("") : textOf(content)
}

const itemOf = (raw: Fields): Item => {
  const role = textOf(raw["role"] ?? raw["type"])
  const content = raw["content"] ?? raw["parts"]
  const inner = listOf(content).filter(isFields)
  const nodes = [raw, ...(role === "tool" && typeof raw["tool_call_id"] === "string" ? [] : inner)]
  // A call that the provider ran has its result in the same message, or has none.
  const isOwn = (node: Fields): boolean => node["providerExecuted"] !== true
  const ran = new Set(inner.filter((node) => !isOwn(node)).map(idOf))
  const calls = nodes.flatMap((node) => [
    ...(callTypes.includes(textOf(node["type"])) && isOwn(node) ? [node] : []),
    ...listOf(node["tool_calls"]).map(fieldsOf),
    ...(isFields(node["functionCall"]) ? [node["functionCall"]] : [])
  ])
  const results = nodes.flatMap((node) => [
    ...(resultTypes.includes(textOf(node["type"])) || typeof node["tool_call_id"] === "string" ? [node] : []),
    ...(isFields(node["functionResponse"]) ? [node["functionResponse"]] : [])
  ])
  const answered = results
    .filter((node) => !ran.has(idOf(node)))
    .map((node) => ({ id: idOf(node), text: resultText(node) }))
  const texts =
    typeof content === "string"
      ? [content]
      : inner.map((node) => node["text"]).filter((text) => typeof text === "string")
  return {
    role,
    texts: answered.length > 0 ? [] : texts,
    calls: calls.map(idOf),
    results: answered,
    hasMore:
      inner.some((node) => typeof node["text"] !== "string") || (content === undefined && raw["type"] !== undefined),
    raw
  }
}

/** The messages or items of a request's body. */
export const itemsOf = (body: Fields): ReadonlyArray<Item> =>
  listOf(body["messages"] ?? body["input"] ?? body["contents"] ?? body["prompt"])
    .filter(isFields)
    .map(itemOf)

/** Every text of a value, at any depth. */
export const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isFields(value) ? Object.entries(value).flatMap(([key, one]) => [key, ...textsIn(one)]) : []
}

/** The values under a key, at any depth. */
export const valuesAt = (value: unknown, key: string): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, key))
  if (!isFields(value)) return []
  return [...(key in value ? [value[key]] : []), ...Object.values(value).flatMap((one) => valuesAt(one, key))]
}
