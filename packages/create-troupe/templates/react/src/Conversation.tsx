import { Message } from "@troupe/chat/messages"
import { useChat } from "@troupe/react"
import { type FormEvent, useState } from "react"

/** A conversation: its messages, its decisions, and the field for the next message. */
export const Conversation = ({ id }: { readonly id: string }) => {
  const { messages, partial, status, approvals, send, approve, cancel } = useChat(id)
  const [text, setText] = useState("")
  const [fault, setFault] = useState("")
  const isAnswering = status === "running"

  /** Runs a verb of the chat, and shows why it was refused. */
  const attempt = (verb: Promise<unknown>) => {
    setFault("")
    verb.catch((error: unknown) => setFault(error instanceof Error ? error.message : String(error)))
  }

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== "") attempt(send(text))
    setText("")
  }

  return (
    <main>
      <h1>A chat with Troupe</h1>
      <div role="log" aria-label="Messages">
        {messages.map((message, index) => (
          <article key={index} className={message.role}>
            <p>{Message.text(message)}</p>
          </article>
        ))}
        {isAnswering && <p>{partial.text}</p>}
        {approvals.map(({ toolCall }) => (
          <div key={toolCall.id} className="call">
            {toolCall.name} <code>{JSON.stringify(toolCall.arguments)}</code>
            <button onClick={() => attempt(approve(toolCall.id, { type: "allow" }))}>Allow</button>
            <button onClick={() => attempt(approve(toolCall.id, { type: "deny" }))}>Deny</button>
          </div>
        ))}
      </div>
      {fault !== "" && <p role="alert">{fault}</p>}
      <form onSubmit={submit}>
        <input
          aria-label="Message"
          placeholder="Where is order 42?"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {isAnswering ? (
          <button type="button" onClick={() => attempt(cancel())}>
            Stop
          </button>
        ) : (
          <button>Send</button>
        )}
      </form>
    </main>
  )
}
