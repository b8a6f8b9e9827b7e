import type { UIMessage } from "ai"
import { chats } from "../src/chats.ts"
import { Conversation } from "./Conversation.tsx"

export const dynamic = "force-dynamic"

/** The conversation as the server has it. */
const messagesOf = async (id: string): Promise<Array<UIMessage>> => {
  const response = await (await chats()).fetch(new Request(`http://localhost/api/chat/${id}/messages`))
  return response.ok ? ((await response.json()) as { messages: Array<UIMessage> }).messages : []
}

export default async function Page() {
  const id = "first"
  return <Conversation id={id} messages={await messagesOf(id)} />
}
