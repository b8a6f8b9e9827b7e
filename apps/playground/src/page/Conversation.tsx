import { useChat } from "@troupe/react"
import { type ReactNode, useState } from "react"
import { suggestions } from "../suggestions/index.ts"
import { Approvals } from "../waiting/index.ts"
import { Composer } from "./Composer.tsx"
import { useEnd } from "./end.ts"
import { Messages } from "./Messages.tsx"
import { Running } from "./Running.tsx"

const busyPhases: ReadonlySet<string> = new Set([
  "committing",
  "requesting",
  "streaming",
  "runningTools",
  "runningHooks",
  "completing"
])

const words: Readonly<Record<string, string>> = {
  idle: "Ready",
  interrupted: "Interrupted",
  awaitingUser: "A tool asks you",
  awaitingTools: "Waits for tool results",
  awaitingApproval: "Waits for your decision",
  committing: "Storing …",
  requesting: "Asking the model …",
  streaming: "The model answers …",
  runningTools: "Tools run …",
  runningHooks: "Hooks run …",
  completing: "Finishing …"
}

const unreached = {
  connecting: "Connecting …",
  reconnecting: "The server does not answer; trying again …",
  closed: "Closed"
} as const

/** One conversation: its messages, running calls, questions, and the input field. */
export const Conversation = ({ id }: { readonly id: string }): ReactNode => {
  const chat = useChat(id)
  const [fault, setFault] = useState<string>()
  const end = useEnd()
  const busy = busyPhases.has(chat.phase)
  const attempt = (verb: () => Promise<unknown>): Promise<boolean> => {
    setFault(undefined)
    return verb().then(
      () => true,
      (error: unknown) => {
        setFault(error instanceof Error ? error.message : String(error))
        return false
      }
    )
  }
  const say = (text: string): Promise<boolean> => {
    end.seek()
    return attempt(() => chat.send(text))
  }
  return (
    <>
      <div ref={end.ref} onScroll={end.onScroll} className="messages" role="log" aria-live="polite" aria-busy={busy}>
        {chat.messages.length === 0 && !busy ? (
          <div className="empty">
            <h1>Say something</h1>
            <p>Everything here is a supervised process. Watch it in the observer, cancel it, kill it.</p>
            <ul>
              {suggestions.map((suggestion) => (
                <li key={suggestion}>
                  <button type="button" onClick={() => void say(suggestion)}>
                    {suggestion}
                  </button>
                </li>
              ))}
            </ul>
          </div>
        ) : null}
        <Messages view={chat} />
        <Running
          calls={busy ? chat.toolCalls : []}
          onCancel={(callId) => void attempt(() => chat.cancelToolCall(callId))}
          onRestart={(callId) => void attempt(() => chat.restartToolCall(callId))}
        />
        <Approvals
          approvals={chat.approvals}
          onDecide={(callId, decision) => void attempt(() => chat.approve(callId, decision))}
        />
      </div>
      {fault === undefined ? null : (
        <div className="bar" role="alert">
          <span>{fault}</span>
          <button type="button" onClick={() => setFault(undefined)}>
            Dismiss
          </button>
        </div>
      )}
      {chat.phase === "interrupted" || (chat.error !== undefined && !busy) ? (
        <div className="bar" role="alert">
          <span>{chat.error?.message ?? "The answer was interrupted; what was said is kept."}</span>
          <button type="button" onClick={() => void attempt(() => chat.retry())}>
            {chat.phase === "interrupted" ? "Resume" : "Retry"}
          </button>
        </div>
      ) : null}
      {chat.inbox.length === 0 ? null : (
        <p className="note">
          {chat.inbox.length} waiting{busy ? "" : " "}
          {busy ? null : (
            <button type="button" className="quiet" onClick={() => void attempt(() => chat.resume())}>
              Run
            </button>
          )}
        </p>
      )}
      <p className="status" role="status" data-phase={chat.phase} data-connection={chat.connection}>
        <span className="dot" aria-hidden="true" />{" "}
        {chat.connection === "open"
          ? (words[chat.phase] ?? chat.phase)
          : `${unreached[chat.connection]}${chat.connection === "closed" && chat.connectionError ? `: ${chat.connectionError.message}` : ""}`}
      </p>
      <Composer
        label={chat.question?.question ?? "Message"}
        busy={busy}
        onSay={say}
        onCancel={() => void attempt(() => chat.cancel())}
      />
    </>
  )
}
