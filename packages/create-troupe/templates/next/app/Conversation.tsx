"use client"

import { useChat } from "@ai-sdk/react"
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage
} from "ai"
import { type FormEvent, useState } from "react"

/** With the last message of the page, the server sends an answer that ended while the page was loaded. */
const transportOf = (id: string, after = "") =>
  new DefaultChatTransport({
    api: "/api/chat",
    prepareReconnectToStreamRequest: () => ({ api: `/api/chat/${id}/stream?after=${encodeURIComponent(after)}` })
  })

/** A conversation: its messages, its decisions, and the field for the next message. */
export const Conversation = ({
  id,
  messages: initial
}: {
  readonly id: string
  readonly messages: Array<UIMessage>
}) => {
  const [transport] = useState(() => transportOf(id, initial.at(-1)?.id))
  const { messages, status, error, sendMessage, addToolApprovalResponse } = useChat({
    id,
    messages: initial,
    resume: true,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses
  })
  const [text, setText] = useState("")
  const isAnswering = status === "submitted" || status === "streaming"

  const send = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== "") void sendMessage({ text })
    setText("")
  }

  return (
    <main>
      <h1>A chat with Troupe</h1>
      <div role="log" aria-label="Messages">
        {messages.map((message) => (
          <article key={message.id} className={message.role}>
            {message.parts.map((part, index) => {
              if (part.type === "text") return <p key={index}>{part.text}</p>
              if (!isToolUIPart(part)) return null
              return (
                <div key={index} className="call">
                  {getToolName(part)} <code>{JSON.stringify(part.input)}</code>
                  {part.state === "approval-requested" && (
                    <span>
                      <button onClick={() => void addToolApprovalResponse({ id: part.approval.id, approved: true })}>
                        Allow
                      </button>
                      <button onClick={() => void addToolApprovalResponse({ id: part.approval.id, approved: false })}>
                        Deny
                      </button>
                    </span>
                  )}
                </div>
              )
            })}
          </article>
        ))}
      </div>
      {error !== undefined && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input
          aria-label="Message"
          placeholder="Where is order 42?"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {isAnswering ? (
          <button type="button" onClick={() => void fetch(`/api/chat/${id}/stop`, { method: "POST" })}>
            Stop
          </button>
        ) : (
          <button>Send</button>
        )}
      </form>
    </main>
  )
}
