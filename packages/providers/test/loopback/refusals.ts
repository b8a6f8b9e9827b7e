/** Why the APIs refuse the messages of a request: calls without results, results without calls, the order, and empty content. */

/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>

const list = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? (value as ReadonlyArray<Json>) : [])

const isEmpty = (content: unknown): boolean =>
  content === undefined ||
  content === null ||
  (typeof content === "string" && content.trim() === "") ||
  (Array.isArray(content) &&
    (content.length === 0 || content.some((part: Json) => typeof part["text"] === "string" && part["text"] === "")))

const sorted = (values: ReadonlyArray<unknown>): string =>
  values
    .map(String)
    .toSorted((one, other) => (one < other ? -1 : 1))
    .join(" ")

const same = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>): boolean => sorted(one) === sorted(other)

/** Chat completions. Mistral has an order and a form of ids besides. */
export const messageRefusal = (messages: ReadonlyArray<Json>, api: "openai" | "mistral"): string | undefined => {
  let open: Array<unknown> = []
  for (const [at, message] of messages.entries()) {
    const { role, content, tool_call_id: result } = message
    const calls = list(message["tool_calls"]).map(({ id }) => id)
    const before = messages[at - 1]?.["role"]
    if (role === "tool") {
      if (!open.includes(result)) return `message ${at}: a tool message must follow its tool call ${String(result)}`
      open = open.filter((id) => id !== result)
      continue
    }
    if (open.length > 0) return `message ${at}: tool calls without results: ${open.join(", ")}`
    if (calls.length === 0 && isEmpty(content)) return `message ${at}: empty content`
    if (new Set(calls).size < calls.length) return `message ${at}: a tool call id twice`
    if (api === "mistral" && role === "user" && before === "tool") return "Unexpected role 'user' after role 'tool'"
    if (api === "mistral" && role === "system" && before !== undefined && before !== "system")
      return `message ${at}: a system message after another role`
    if (api === "mistral" && calls.some((id) => !/^[a-zA-Z0-9]{9}$/.test(String(id)))) return `bad id in ${at}`
    open = [...calls]
  }
  if (open.length > 0) return `tool calls without results: ${open.join(", ")}`
  const last = messages.at(-1)?.["role"]
  return api === "mistral" && last !== "user" && last !== "tool" ? "Expected last role User or Tool" : undefined
}

/** OpenAI's Responses API. A reference to an item is the item of an earlier reply, whose id tells its type. */
export const itemRefusal = (items: ReadonlyArray<Json>): string | undefined => {
  const calls: Array<string> = []
  const results: Array<string> = []
  for (const [at, item] of items.entries()) {
    const { type, id, role, content } = item
    if (type === "function_call") calls.push(String(item["call_id"]))
    else if (type === "item_reference" && String(id).startsWith("fc_")) calls.push(String(id).slice(3))
    else if (type === "function_call_output") {
      const call = String(item["call_id"])
      if (!calls.includes(call)) return `item ${at}: No tool call found for function call output with call_id ${call}`
      results.push(call)
    } else if (role !== undefined && isEmpty(content)) return `item ${at}: empty content`
  }
  return same(calls, results) ? undefined : "No tool output found for function call"
}

/** Anthropic's Messages API. */
export const blockRefusal = (messages: ReadonlyArray<Json>): string | undefined => {
  if (messages[0]?.["role"] !== "user") return "messages: first message must use the user role"
  const seen = new Set<unknown>()
  let open: ReadonlyArray<unknown> = []
  for (const [at, { role, content }] of messages.entries()) {
    if (isEmpty(content)) return `messages.${at}: must have non-empty content`
    const blocks = list(content)
    const results = blocks.filter(({ type }) => type === "tool_result").map(({ tool_use_id: id }) => id)
    if (!same(open, results))
      return `messages.${at}: tool_use ids without tool_result blocks immediately after, or reverse`
    if (blocks.findLastIndex(({ type }) => type === "tool_result") >= results.length)
      return `messages.${at}: tool_result blocks must come first`
    if (role === messages[at - 1]?.["role"] && results.length > 0) return `messages.${at}: order of roles`
    open = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id)
    for (const id of open) {
      if (seen.has(id)) return `messages.${at}: tool_use ids must be unique`
      seen.add(id)
    }
  }
  return open.length > 0 ? "tool_use ids were found without tool_result blocks" : undefined
}

/** Gemini's API. */
export const contentRefusal = (contents: ReadonlyArray<Json>): string | undefined => {
  if (contents[0]?.["role"] !== "user") return "the first content must be of the user"
  let open: ReadonlyArray<unknown> = []
  for (const [at, content] of contents.entries()) {
    const parts = list(content["parts"])
    if (parts.length === 0 || parts.some(({ text }) => text === "")) return `contents[${at}].parts: must not be empty`
    const results = parts.flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [functionResponse]))
    const names = results.map((result) => (result as Json)["name"])
    if (!same(open, names))
      return `contents[${at}]: the number of function response parts must equal that of the function call parts`
    open = parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [(functionCall as Json)["name"]]))
    if (open.length > 0 && contents[at - 1]?.["role"] !== "user")
      return `contents[${at}]: a function call turn must come immediately after a user turn or a function response turn`
  }
  return open.length > 0 ? "function calls without responses" : undefined
}
