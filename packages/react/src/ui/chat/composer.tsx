/** The field in which a person writes. */
import { type ReactNode, useCallback, useId, useRef, useState } from "react"
import type { Message } from "@troupe/chat/messages"
import type { Conversation } from "../../hooks/index.ts"
import { contentOf } from "../message/index.ts"
import { Button, classOf, Fault, type PartProps, useAttempt } from "../parts/index.ts"
import { isBusy } from "./phase.ts"

/** A model that a person can choose. */
export interface ModelChoice {
  /** The name that `send` takes. */
  readonly name: string
  /** Its name for people. Default: `name`. */
  readonly label?: string | undefined
}

/** The props of {@link Composer}. */
export interface ComposerProps extends PartProps {
  /** The chat, as `useChat` returns it. For a chat that begins with the message, `send` is enough. */
  readonly chat: Pick<Conversation, "send"> &
    Partial<Pick<Conversation, "phase" | "cancel" | "inbox" | "withdraw" | "resume" | "question">>
  /** The name of the field. Default: the question that the chat waits for, or `Message`. */
  readonly label?: string | undefined
  /** The models to choose from, the default first. Default: none is chosen. */
  readonly models?: ReadonlyArray<ModelChoice> | undefined
  /** More controls in the row of the buttons. */
  readonly children?: ReactNode
}

/**
 * The input field: Enter sends, Shift and Enter begins a line, Escape stops the running turn. While a turn runs, a message is queued; the
 * queue is listed, and each message in it can be withdrawn.
 *
 * **Details**: a refused message returns to the field, with the refusal below.
 */
export const Composer = ({ chat, label, models = [], children, className }: ComposerProps): ReactNode => {
  const { send, phase = "idle", cancel, inbox = [], withdraw, resume, question } = chat
  const [text, setText] = useState("")
  const [model, setModel] = useState<string>()
  const box = useRef<HTMLTextAreaElement>(null)
  // A person may type before React hydrates the page of a server: the field then has a text that React does not know.
  const attached = useCallback((field: HTMLTextAreaElement | null): void => {
    box.current = field
    if (field !== null && field.value !== "") setText(field.value)
  }, [])
  const { fault, attempt } = useAttempt()
  const hint = useId()
  const busy = isBusy(phase)
  const name = label ?? question?.question ?? "Message"
  const say = async (): Promise<void> => {
    const typed = text.trim()
    if (typed === "") return
    setText("")
    box.current?.focus()
    const isSent = await attempt(() => send(typed, model === undefined ? {} : { model }))
    if (!isSent) setText((now) => (now === "" ? typed : now))
  }
  return (
    <form
      className={classOf("composer", { className })}
      data-state={busy ? "busy" : "open"}
      onSubmit={(event) => {
        event.preventDefault()
        void say()
      }}
    >
      {inbox.length === 0 ? null : (
        <ul className="troupe-queue" aria-label="Queued messages">
          {inbox.map(({ id, message }) => (
            <li key={id}>
              <span className="troupe-state">queued</span>
              <span className="troupe-about">{textOf(message)}</span>
              {withdraw === undefined ? null : (
                <Button tone="quiet" icon="remove" label="Withdraw" onClick={() => void attempt(() => withdraw(id))} />
              )}
            </li>
          ))}
          {busy || resume === undefined ? null : (
            <li>
              <Button onClick={() => void attempt(() => resume())}>Run the queue</Button>
            </li>
          )}
        </ul>
      )}
      <Fault fault={fault} />
      <div className="troupe-box">
        <textarea
          ref={attached}
          rows={1}
          aria-label={name}
          aria-describedby={hint}
          placeholder={name}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault()
              void say()
            }
            if (event.key === "Escape" && busy && cancel !== undefined) void attempt(() => cancel())
          }}
        />
        <div className="troupe-tools">
          {models.length < 2 ? null : (
            <select
              aria-label="Model"
              value={model ?? models[0]?.name}
              onChange={(event) => setModel(event.target.value)}
            >
              {models.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.label ?? one.name}
                </option>
              ))}
            </select>
          )}
          {children}
          <span id={hint} className="troupe-note">
            {busy ? "Enter queues, Esc stops" : "Enter sends, Shift Enter for a line"}
          </span>
          {busy && cancel !== undefined ? (
            <Button icon="stop" label="Stop" onClick={() => void attempt(() => cancel())} />
          ) : null}
          <Button tone="primary" submit icon="send" label={busy ? "Queue" : "Send"} disabled={text.trim() === ""} />
        </div>
      </div>
    </form>
  )
}

const textOf = (message: Message.Message): string => {
  const { text, files } = contentOf(message)
  return text === "" ? files.join(", ") : text
}
