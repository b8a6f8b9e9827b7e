/** The clients of the AI SDK and of AG-UI, as a page uses them. */
import { HttpAgent } from "@ag-ui/client"
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai"

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
