import type { ChatView } from "@troupe/chat/view"
import type { ReactNode } from "react"

const partOf = (progress: unknown): { readonly done: number; readonly total: number } | undefined => {
  if (typeof progress !== "object" || progress === null) return undefined
  const { done, total } = progress as { readonly done?: unknown; readonly total?: unknown }
  return typeof done === "number" && typeof total === "number" && total > 0 ? { done, total } : undefined
}

/** The tool calls of the running step, each with its actions. */
export const Running = ({
  calls,
  onCancel,
  onRestart
}: {
  readonly calls: ChatView.ChatView["toolCalls"]
  readonly onCancel: (id: string) => void
  readonly onRestart: (id: string) => void
}): ReactNode =>
  calls.length === 0 ? null : (
    <ul className="running" aria-label="Running tools">
      {calls.map(({ id, name, status, outcome, progress, child }) => {
        const part = partOf(progress)
        return (
          <li key={id} data-status={status} data-outcome={outcome}>
            <code>{name}</code>
            <span className="outcome">{(outcome ?? status).replaceAll("_", " ")}</span>
            {part === undefined ? null : (
              <progress value={part.done} max={part.total}>
                {part.done} of {part.total}
              </progress>
            )}
            {status === "running" ? (
              <span className="verbs">
                <button type="button" className="quiet" onClick={() => onRestart(id)}>
                  Restart
                </button>
                <button type="button" className="quiet" onClick={() => onCancel(id)}>
                  Cancel {name}
                </button>
              </span>
            ) : null}
            {child === undefined ? null : <ChildWork child={child} />}
          </li>
        )
      })}
    </ul>
  )

type Child = NonNullable<ChatView.ChatView["toolCalls"][number]["child"]>

/** What the sub-agent of a call does now. The result of the call is announced, and the words before it are not. */
const ChildWork = ({ child: { agent, text, reasoning, toolCalls } }: { readonly child: Child }): ReactNode => (
  <section className="child" aria-label={`Work of the ${agent}`} aria-live="off">
    {reasoning === undefined ? null : <p className="note">{reasoning}</p>}
    <p className="plain">
      <strong>{agent}</strong> {text === "" && toolCalls.length === 0 ? "begins …" : text}
    </p>
    {toolCalls.length === 0 ? null : (
      <ul className="running" aria-label={`Tools of the ${agent}`}>
        {toolCalls.map(({ id, name, status, outcome, child }) => (
          <li key={id} data-status={status} data-outcome={outcome}>
            <code>{name}</code>
            <span className="outcome">{(outcome ?? status).replaceAll("_", " ")}</span>
            {child === undefined ? null : <ChildWork child={child} />}
          </li>
        ))}
      </ul>
    )}
  </section>
)
