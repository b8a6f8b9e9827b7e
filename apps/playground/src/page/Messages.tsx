import type { Message } from "@troupe/chat/messages"
import type { ChatView } from "@troupe/chat/view"
import { memo, type ReactNode, useMemo } from "react"
import Markdown, { type Components } from "react-markdown"
import { Calls, type Results } from "./Calls.tsx"

const textOf = ({ content }: Message.Message): string =>
  typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n")

/** A link opens in a new tab. An image becomes a link, so that it is loaded only on request. */
const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={typeof src === "string" ? src : undefined} target="_blank" rel="noreferrer">
      {alt === undefined || alt === "" ? "picture" : alt}
    </a>
  )
}

/** Text of the model, parsed as Markdown once. */
const Spoken = memo(({ text }: { readonly text: string }): ReactNode => (
  <Markdown components={components}>{text}</Markdown>
))

/** The content of one message; tool messages are shown with the calls they answer. */
const Said = memo(
  ({ message, results }: { readonly message: Message.Message; readonly results: Results }): ReactNode => {
    if (message.role === "tool" || message.role === "system") return null
    const text = textOf(message)
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : []
    return (
      <article className={`message ${message.role}`} aria-label={message.role === "user" ? "You" : "Model"}>
        {text === "" ? null : message.role === "user" ? <p className="plain">{text}</p> : <Spoken text={text} />}
        {calls.length === 0 ? null : <Calls calls={calls} results={results} />}
        {message.metadata?.["cancelled"] === true ? <p className="note">cut short</p> : null}
      </article>
    )
  }
)

const resultsOf = (messages: ReadonlyArray<Message.Message>): Results =>
  new Map(messages.flatMap((message) => (message.role === "tool" ? [[message.toolCallId, message] as const] : [])))

/** A conversation, with the streaming reply last. */
export const Messages = ({ view }: { readonly view: Pick<ChatView.ChatView, "messages" | "partial"> }): ReactNode => {
  const results = useMemo(() => resultsOf(view.messages), [view.messages])
  return (
    <>
      {view.messages.map((message, index) => (
        <Said key={index} message={message} results={results} />
      ))}
      {view.partial.text === "" && view.partial.reasoning === undefined ? null : (
        <article className="message assistant partial" aria-label="Model, still speaking">
          {view.partial.reasoning === undefined ? null : <p className="note">{view.partial.reasoning}</p>}
          <Spoken text={view.partial.text} />
        </article>
      )}
    </>
  )
}
