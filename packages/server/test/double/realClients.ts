/** The clients of the AI SDK, of AG-UI and of OpenAI, as a page or a program uses them. */
import { HttpAgent } from "@ag-ui/client"
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai"
import OpenAI from "openai"

/** Sends a message with the transport of `useChat`, and reads the reply: its texts and its errors. */
export const askAiSdk = async (url: string, text: string) => {
  const transport = new DefaultChatTransport({ api: `${url}/api/chat` })
  const asked: UIMessage = { id: "u1", role: "user", parts: [{ type: "text", text }] }
  const request = { chatId: "c", messages: [asked], messageId: undefined, abortSignal: undefined }
  const stream = await transport.sendMessages({ ...request, trigger: "submit-message" })
  const errors: Array<string> = []
  let reply: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream, onError: (error) => void errors.push(String(error)) })) {
    reply = message
  }
  const texts = reply?.parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return { texts, errors }
}

/** Runs an agent with a message: the messages that it has afterwards, and its errors. */
export const askAgUi = async (url: string, content: string) => {
  const agent = new HttpAgent({ url: `${url}/ag-ui`, threadId: "c" })
  agent.addMessage({ id: "u1", role: "user", content })
  const errors: Array<string> = []
  await agent.runAgent(
    {},
    {
      onRunErrorEvent: ({ event }) => void errors.push(event.message),
      onRunFailed: ({ error }) => void errors.push(error.message)
    }
  )
  return { texts: agent.messages.map((message) => message.content), errors }
}

/** OpenAI's own client, which sends no request again. */
const openAi = (url: string): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 })

/** Streams a chat completion of the conversation: its text, and the ids of its chunks. */
export const askCompletion = async (url: string, content: string) => {
  const chunks = await openAi(url).chat.completions.create(
    { model: "troupe", stream: true, messages: [{ role: "user", content }] },
    { headers: { "x-troupe-chat": "c" } }
  )
  const ids = new Set<string>()
  let text = ""
  for await (const { id, choices } of chunks) {
    ids.add(id)
    text += choices[0]?.delta.content ?? ""
  }
  return { text, ids }
}

const textOf = (item: OpenAI.Responses.ResponseOutputItem): string =>
  item.type === "message" ? item.content.map((part) => (part.type === "output_text" ? part.text : "")).join("") : ""

/** Streams a response of the conversation: its text when it is over, the texts of its items, and whether its numbers grow. */
export const askResponse = async (url: string, input: string) => {
  const events = await openAi(url).responses.create(
    { model: "troupe", stream: true, input },
    { headers: { "x-troupe-chat": "c" } }
  )
  const numbers: Array<number> = []
  const items: Array<readonly [place: number, status: string | undefined, text: string]> = []
  let last: string | undefined
  let id: string | undefined
  for await (const event of events) {
    numbers.push(event.sequence_number)
    if (event.type === "response.created") id = event.response.id
    if (event.type === "response.output_item.done" && event.item.type === "message")
      items.push([event.output_index, event.item.status, textOf(event.item)])
    if (event.type === "response.completed")
      last = event.response.id === id ? event.response.output.map(textOf).join("") : "another id"
  }
  return { last, items, isGrowing: numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0)) }
}
