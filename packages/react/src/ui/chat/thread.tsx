/** The conversation: its messages, the running step, and the reply that streams. */
import { type ReactNode, useMemo } from "react"
import type { Conversation } from "../../hooks/index.ts"
import { Approval, runningCall, ToolCall } from "../call/index.ts"
import { Markdown, type MarkdownProps, Reasoning } from "../message/index.ts"
import { classOf, type PartProps, type UndoOptions } from "../parts/index.ts"
import { type Entry, entriesOf } from "./entries.ts"
import { Message } from "./message.tsx"
import { isBusy } from "./phase.ts"
import { useScrollEnd } from "./scrollEnd.ts"

/** The props of {@link Thread}. */
export interface ThreadProps extends PartProps, UndoOptions {
  /** The chat, as `useChat` returns it. */
  readonly chat: Conversation
  /** What to show while nothing was said. */
  readonly empty?: ReactNode
  /** Whether questions can be edited and answers regenerated, which needs a store with a log. Default: `true`. */
  readonly canRevise?: boolean | undefined
  /** Renders blocks of code. */
  readonly code?: MarkdownProps["code"]
  /** Renders a message. Default: {@link Message}. */
  readonly children?: ((entry: Entry) => ReactNode) | undefined
}

/**
 * A conversation. It follows its end while a reply streams, unless a reader has scrolled up.
 *
 * **Details**: the box is a `log` of WAI-ARIA, so that a screen reader announces what is added; it is busy while a turn runs. Messages that
 * did not change are not rendered again.
 */
export const Thread = (props: ThreadProps): ReactNode => {
  const { chat, empty, canRevise = true, code, children, className, undoMs, clock } = props
  const { messages, approvals, partial, phase, toolCalls } = chat
  const { entries, others } = useMemo(() => entriesOf({ messages, approvals }), [messages, approvals])
  const verbs = useVerbs(chat, canRevise)
  const busy = isBusy(phase)
  const said = messages.reduce((sum, { role }) => (role === "user" ? sum + 1 : sum), 0)
  const end = useScrollEnd(said)
  const running = busy ? toolCalls : []
  let asked: number | undefined
  return (
    <div
      ref={end.ref}
      onScroll={end.onScroll}
      className={classOf("thread", { className })}
      role="log"
      aria-label="Conversation"
      aria-live="polite"
      aria-busy={busy}
      tabIndex={0}
    >
      {entries.length === 0 && !busy ? empty : null}
      {entries.map((entry) => {
        if (entry.message.role === "user") asked = entry.index
        return children === undefined ? (
          <Message
            key={entry.index}
            entry={entry}
            verbs={verbs}
            asked={entry.isLast && !busy ? asked : undefined}
            code={code}
            undoMs={undoMs}
            clock={clock}
          />
        ) : (
          children(entry)
        )
      })}
      {partial.text === "" && partial.reasoning === undefined ? null : (
        <article
          className={classOf("message")}
          data-role="assistant"
          data-state="streaming"
          aria-label="Model, still speaking"
        >
          {partial.reasoning === undefined ? null : <Reasoning text={partial.reasoning} isLive={partial.text === ""} />}
          <Markdown text={partial.text} code={code} />
        </article>
      )}
      {running.length === 0 ? null : (
        <div className="troupe-running" role="group" aria-label="Running tools">
          {running.map((call) => (
            <ToolCall key={call.id} call={runningCall(call, approvals)} verbs={verbs} undoMs={undoMs} clock={clock} />
          ))}
        </div>
      )}
      {running.length > 0
        ? null
        : others.map((approval) => (
            <Approval
              key={approval.toolCall.id}
              approval={approval}
              onDecide={chat.approve}
              undoMs={undoMs}
              clock={clock}
            />
          ))}
    </div>
  )
}

/** The verbs that parts of the thread need: the same object while the chat is the same, so that messages stay as they are. */
const useVerbs = (chat: Conversation, canRevise: boolean) => {
  const { approve, cancelToolCall, restartToolCall, history, rewind, retry, send } = chat
  return useMemo(
    () => ({
      approve,
      cancelToolCall,
      restartToolCall,
      ...(canRevise ? { history, rewind, retry, send } : {})
    }),
    [approve, cancelToolCall, restartToolCall, history, rewind, retry, send, canRevise]
  )
}
