/** A loopback server of OpenAI's Responses API: each reply has the items that a test wrote down. */
import { createOpenAI } from "@ai-sdk/openai"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { eventServer, type EventServer, sendStream } from "./eventServer.ts"

/** One item of a reply. */
export type Item = Readonly<Record<string, unknown>>

/** The text of a reply, as an item. */
export const textItem = (text: string): Item => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", annotations: [], logprobs: [], text }]
})

const eventsOf = (items: ReadonlyArray<Item>): ReadonlyArray<unknown> => {
  const about = { id: "resp_1", object: "response", created_at: 1766434871, model: "gpt-5.1" }
  const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 }
  return [
    { type: "response.created", response: { ...about, status: "in_progress", output: [] } },
    ...items.flatMap((item, index) => [
      { type: "response.output_item.added", output_index: index, item },
      ...(item["type"] === "message"
        ? [{ type: "response.output_text.delta", item_id: item["id"], output_index: index, delta: textOf(item) }]
        : []),
      { type: "response.output_item.done", output_index: index, item }
    ]),
    { type: "response.completed", response: { ...about, status: "completed", output: items, usage } }
  ]
}

const textOf = ({ content }: Item): string => (content as ReadonlyArray<{ readonly text: string }>)[0]?.text ?? ""

/** The server, and a model of it. Every request after the last reply gets the text "Done." */
export const responsesServer = async (
  ...replies: ReadonlyArray<ReadonlyArray<Item>>
): Promise<EventServer & { readonly model: LanguageModelV4 }> => {
  const server = await eventServer((response, index) =>
    sendStream(response, eventsOf(replies[index] ?? [textItem("Done.")]))
  )
  return { ...server, bodies: server.bodies, model: createOpenAI({ apiKey: "none", baseURL: server.url })("gpt-5.1") }
}

/** The items of a request that are no messages of the user or the system. */
export const inputOf = (body: Readonly<Record<string, unknown>> | undefined): ReadonlyArray<Item> =>
  ((body?.["input"] ?? []) as ReadonlyArray<Item>).filter(({ role }) => role !== "user" && role !== "system")
