/** One message, with its calls and what can be done with it. */
import { memo, type ReactNode, useState } from "react"
import { nameOfAgent } from "../../format/index.ts"
import { type CallVerbs, ToolCall } from "../call/index.ts"
import { contentOf, Markdown, type MarkdownProps, Reasoning, Sources } from "../message/index.ts"
import { Button, classOf, CopyButton, Fault, type PartProps, type UndoOptions, useAttempt } from "../parts/index.ts"
import type { Entry } from "./entries.ts"
import { regenerate, reviseMessage, type ReviseVerbs } from "./revise.ts"

/** The props of {@link Message}. */
export interface MessageProps extends PartProps, UndoOptions {
  /** The message, its place in the thread, and its calls. */
  readonly entry: Entry
  /** The verbs of its chat. Those that a change needs add the buttons that edit and regenerate. */
  readonly verbs: CallVerbs & Partial<ReviseVerbs>
  /** The place of the user's message before a reply: what `regenerate` runs again. */
  readonly asked?: number | undefined
  /** Renders blocks of code. */
  readonly code?: MarkdownProps["code"]
  /** What to show in place of the text. */
  readonly children?: ReactNode
}

const canRevise = (verbs: Partial<ReviseVerbs>): verbs is ReviseVerbs =>
  verbs.history !== undefined && verbs.rewind !== undefined && verbs.retry !== undefined && verbs.send !== undefined

/** The agent that sent a message, for people; `undefined` for another message. */
const agentOf = ({ metadata }: MessageProps["entry"]["message"]): string | undefined => {
  const sender: unknown = metadata?.["from"]
  const chat: unknown = typeof sender === "object" && sender !== null ? Reflect.get(sender, "chat") : undefined
  if (typeof chat !== "string") return undefined
  const name = nameOfAgent(chat)
  return `From the agent ${name === "parent" ? "above" : name}`
}

/** A message of a person or a model: text, reasoning, calls and sources. It can be copied; a question can be edited, an answer regenerated. */
export const Message = memo((props: MessageProps): ReactNode => {
  const { entry, verbs, asked, code, children, className, ...undo } = props
  const { message, calls, index } = entry
  const { text, reasoning, sources, files } = contentOf(message)
  const [isEdited, setEdited] = useState(false)
  const { fault, attempt } = useAttempt()
  const isUser = message.role === "user"
  const writer = message.role === "user" ? message.writer : undefined
  const revises = writer === undefined && canRevise(verbs) ? verbs : undefined
  return (
    <article
      className={classOf("message", { className })}
      data-role={writer === undefined ? message.role : "writer"}
      data-cut={message.metadata?.["cancelled"] === true || undefined}
      aria-label={
        writer === undefined ? (isUser ? "You" : "Model") : (agentOf(message) ?? `Written by a ${writer.type}`)
      }
    >
      {reasoning === "" ? null : <Reasoning text={reasoning} />}
      {isEdited && revises !== undefined ? (
        <Editor
          text={text}
          onCancel={() => setEdited(false)}
          onSave={async (changed) => {
            setEdited(false)
            await attempt(() => reviseMessage(revises, index, changed))
          }}
        />
      ) : (
        (children ??
        (text === "" ? null : isUser ? <p className="troupe-plain">{text}</p> : <Markdown text={text} code={code} />))
      )}
      {files.length === 0 ? null : <p className="troupe-note">{files.join(", ")}</p>}
      {calls.map((call) => (
        <ToolCall key={call.id} call={call} verbs={verbs} {...undo} />
      ))}
      <Sources sources={sources} />
      {message.metadata?.["cancelled"] === true ? <p className="troupe-note">cut short</p> : null}
      <Fault fault={fault} />
      {text === "" || isEdited ? null : (
        <div className="troupe-actions">
          <CopyButton text={text} />
          {revises !== undefined && isUser ? (
            <Button tone="quiet" icon="edit" label="Edit" onClick={() => setEdited(true)} />
          ) : null}
          {revises !== undefined && !isUser && asked !== undefined && calls.length === 0 ? (
            <Button
              tone="quiet"
              icon="again"
              label="Regenerate"
              onClick={() => void attempt(() => regenerate(revises, asked))}
            />
          ) : null}
        </div>
      )}
    </article>
  )
})

interface EditorProps {
  readonly text: string
  readonly onSave: (text: string) => Promise<void>
  readonly onCancel: () => void
}

const Editor = ({ text, onSave, onCancel }: EditorProps) => {
  const [changed, setChanged] = useState(text)
  return (
    <form
      className="troupe-editor"
      onSubmit={(event) => {
        event.preventDefault()
        if (changed.trim() !== "") void onSave(changed)
      }}
    >
      <textarea
        aria-label="Your message"
        autoFocus
        value={changed}
        onChange={(event) => setChanged(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel()
        }}
      />
      <div className="troupe-buttons">
        <Button tone="primary" submit disabled={changed.trim() === ""}>
          Send again
        </Button>
        <Button onClick={onCancel}>Keep it</Button>
      </div>
    </form>
  )
}
