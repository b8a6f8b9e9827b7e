import { useChat } from "@troupe/react"
import { ChatStatus, Composer, Thread } from "@troupe/react/ui"
import { type ReactNode, useEffect } from "react"
import { useModels } from "./models.ts"
import { Welcome } from "./Welcome.tsx"

/** A conversation. `onSettled` is called when its thread or its phase changes: the list of chats is then out of date. */
export const OpenChat = ({ id, onSettled }: { readonly id: string; readonly onSettled: () => unknown }): ReactNode => {
  const chat = useChat(id)
  const models = useModels()
  const { messages, phase } = chat
  const isRunning = phase === "streaming" || phase === "requesting" || phase === "committing"
  useEffect(() => {
    if (!isRunning) void onSettled()
  }, [messages.length, isRunning, onSettled])
  return (
    <div className="troupe-chat">
      <Thread chat={chat} empty={<Welcome onChoose={(text) => chat.send(text)} />} />
      <ChatStatus chat={chat} />
      <Composer chat={chat} models={models} />
    </div>
  )
}
