/** What a chat does now, and what stopped it. */
import type { ReactNode } from "react"
import type { Conversation } from "../../hooks/index.ts"
import { Button, classOf, Fault, type PartProps, useAttempt } from "../parts/index.ts"
import { isBusy, phaseText, workOf } from "./phase.ts"

/** The props of {@link ChatStatus}. */
export interface ChatStatusProps extends PartProps {
  /** The chat, as `useChat` returns it. */
  readonly chat: Conversation
}

const unreached = {
  connecting: "Connecting …",
  reconnecting: "The server does not answer; trying again …",
  closed: "Closed"
} as const

/** The error of the last turn with a button that goes on, and one line about what the chat does. */
export const ChatStatus = ({ chat, className }: ChatStatusProps): ReactNode => {
  const { phase, error, connection, connectionError, delayed, retry } = chat
  const { fault, attempt } = useAttempt()
  const isInterrupted = phase === "interrupted"
  const isFailed = isInterrupted || (error !== undefined && !isBusy(phase))
  const waiting = delayed === undefined ? "" : ` It is sent again in ${Math.round(delayed.waitMs / 1_000)} s.`
  return (
    <div
      className={classOf("status", { className })}
      data-phase={phase}
      data-connection={connection}
      data-work={workOf(phase)}
    >
      {isFailed ? (
        <div className="troupe-notice" role="alert">
          <span>{error?.message ?? "The answer was interrupted; what was said is kept."}</span>
          <Button onClick={() => void attempt(() => retry())}>{isInterrupted ? "Resume" : "Retry"}</Button>
        </div>
      ) : null}
      <Fault fault={fault} />
      <p role="status">
        <span className="troupe-dot" aria-hidden />{" "}
        {connection === "open"
          ? `${phaseText(phase)}${waiting}`
          : `${unreached[connection]}${connection === "closed" && connectionError ? `: ${connectionError.message}` : ""}`}
      </p>
    </div>
  )
}
