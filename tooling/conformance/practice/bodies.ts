/** Reads the requests of every dialect in one way. */
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/json.ts"

/** One message or item of a request: its texts, the ids of its calls, and its results. */
export interface Item {
  readonly role: string
  readonly texts: ReadonlyArray<string>
  readonly calls: ReadonlyArray<string>
  readonly results: ReadonlyArray<{ readonly id: string; readonly text: string }>
  readonly raw: Fields
}

/** Every object and every text of a value, at any depth. */
export const nodesIn = (value: unknown): ReadonlyArray<unknown> =>
  typeof value === "object" && value !== null
    ? [...(Array.isArray(value) ? [] : [value, ...Object.keys(value)]), ...Object.values(value).flatMap(nodesIn)]
    : [value]

/** The values under a key, at any depth. */
export const valuesAt = (value: unknown, key: string): ReadonlyArray<unknown> =>
  nodesIn(value).flatMap((node) => (isFields(node) && key in node ? [node[key]] : []))

const callTypes = /^(?:tool_use|tool-call|function|function_call|custom_tool_call)$/
const resultTypes = /^(?:tool_result|tool-result|function_call_output|custom_tool_call_output)$/
const idNames = ["call_id", "toolCallId", "tool_use_id", "tool_call_id", "id", "name"]

const idOf = (node: Fields): string => textOf(idNames.map((name) => node[name]).find((id) => typeof id === "string"))
const typeOf = (node: Fields): string => textOf(node["type"] ?? "")
const isCall = (node: Fields): boolean => callTypes.test(typeOf(node)) || ("args" in node && "name" in node)
const isResult = (node: Fields): boolean =>
  resultTypes.test(typeOf(node)) || "tool_call_id" in node || ("response" in node && "name" in node)

const itemOf = (raw: Fields): Item => {
  const content = raw["content"] ?? raw["parts"]
  const nodes = nodesIn(raw).filter(isFields)
  // The provider ran these calls, and their results are in its own reply.
  const ran = nodes.filter((node) => node["providerExecuted"] === true).map(idOf)
  const isOurs = (node: Fields): boolean => !ran.includes(idOf(node))
  const texts = typeof content === "string" ? [content] : listOf(content).map((part) => fieldsOf(part)["text"])
  return {
    role: textOf(raw["role"] ?? raw["type"]),
    // Content of another kind, such as an image, is a text that is not blank.
    texts: texts.map((text) => (typeof text === "string" ? text : "[content]")),
    calls: nodes.filter((node) => isCall(node) && isOurs(node)).map(idOf),
    results: nodes
      .filter((node) => isResult(node) && isOurs(node))
      .map((node) => ({ id: idOf(node), text: textOf(node["output"] ?? node["content"] ?? node["response"]) })),
    raw
  }
}

/** The messages or items of a request's body. */
export const itemsOf = (body: unknown): ReadonlyArray<Item> => {
  const { messages, input, contents, prompt } = fieldsOf(body)
  return listOf(messages ?? input ?? contents ?? prompt).map((item) => itemOf(fieldsOf(item)))
}
