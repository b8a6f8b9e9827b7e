/** A tool call in its row: what it does, with which argument, and what it waits for. */
import type { Decision } from "@troupe/chat/tools"
import { memo, type ReactNode } from "react"
import { json, words } from "../../format/index.ts"
import { Button, classOf, Fault, Icon, type PartProps, type UndoOptions, useAttempt } from "../parts/index.ts"
import { Approval } from "./approval.tsx"
import { runningCall, type ShownCall } from "./callState.ts"

/** The verbs that a call needs: those of a chat. */
export interface CallVerbs {
  /** Decides about a call that waits. */
  readonly approve: (toolCallId: string, decision: Decision) => Promise<unknown>
  /** Ends a running call. Default: there is no button for it. */
  readonly cancelToolCall?: ((toolCallId: string) => Promise<unknown>) | undefined
  /** Runs a running call again. Default: there is no button for it. */
  readonly restartToolCall?: ((toolCallId: string) => Promise<unknown>) | undefined
}

/** The props of {@link ToolCall}. */
export interface ToolCallProps extends PartProps, UndoOptions {
  /** What is shown: its name, its state, and what it waits for. */
  readonly call: ShownCall
  /** The verbs of its chat. */
  readonly verbs: CallVerbs
  /** Renders the details: arguments and result. */
  readonly children?: ((call: ShownCall) => ReactNode) | undefined
}

const workWords: Readonly<Record<Exclude<ShownCall["work"], "done">, string>> = {
  queued: "queued",
  running: "running",
  waiting: "waiting",
  draining: "cancelled, still ends"
}

/** The part of the work that is done, if a tool reports `{ done, total }`, or an MCP server `{ progress, total }`. */
const partOf = (progress: unknown): { readonly done: number; readonly total: number } | undefined => {
  if (typeof progress !== "object" || progress === null) return undefined
  const { total, progress: reported, done = reported } = progress as Readonly<Record<string, unknown>>
  return typeof done === "number" && typeof total === "number" && total > 0 ? { done, total } : undefined
}

const details = ({ arguments: args, result }: ShownCall): ReactNode => (
  <>
    {args === undefined ? null : (
      <pre className="troupe-json" tabIndex={0} aria-label="Arguments">
        {json(args)}
      </pre>
    )}
    {result === undefined ? null : (
      <pre className="troupe-json" tabIndex={0} aria-label="Result">
        {result}
      </pre>
    )}
  </>
)

/**
 * A tool call: one row with its name, main argument and state. Its details unfold. What it waits for is a card in the row; a running call
 * has its progress, its sub-agent's work, and buttons that cancel or restart it.
 */
export const ToolCall = memo(({ call, verbs, className, children = details, ...undo }: ToolCallProps): ReactNode => {
  const { id, name, about, work, outcome, progress, child, approvals } = call
  const { fault, attempt } = useAttempt()
  const { cancelToolCall, restartToolCall } = verbs
  const part = partOf(progress)
  const hasDetails = call.arguments !== undefined || call.result !== undefined
  const row = (
    <>
      <span className="troupe-dot" aria-hidden />
      <code>{name}</code>
      {about === undefined ? null : <span className="troupe-about">{about}</span>}
      <span className="troupe-state">{work === "done" ? words(outcome ?? "done") : workWords[work]}</span>
    </>
  )
  return (
    <div className={classOf("call", { className })} data-work={work} data-outcome={outcome}>
      {hasDetails ? (
        <details>
          <summary>
            <Icon name="open" />
            {row}
          </summary>
          {children(call)}
        </details>
      ) : (
        <div className="troupe-row">
          {row}
          {part === undefined ? null : (
            <progress value={part.done} max={part.total} aria-label={`Progress of ${name}`}>
              {part.done} of {part.total}
            </progress>
          )}
          {work === "running" && cancelToolCall !== undefined ? (
            <span className="troupe-buttons">
              {restartToolCall === undefined ? null : (
                <Button
                  tone="quiet"
                  icon="again"
                  label={`Restart ${name}`}
                  onClick={() => void attempt(() => restartToolCall(id))}
                />
              )}
              <Button
                tone="quiet"
                icon="remove"
                label={`Cancel ${name}`}
                onClick={() => void attempt(() => cancelToolCall(id))}
              />
            </span>
          ) : null}
        </div>
      )}
      <Fault fault={fault} />
      {child === undefined ? null : <ChildWork child={child} />}
      {approvals.map((approval) => (
        <Approval key={approval.toolCall.id} approval={approval} onDecide={verbs.approve} {...undo} />
      ))}
    </div>
  )
})

type Child = NonNullable<ShownCall["child"]>

/** What the sub-agent of a call does now. The result of the call is announced, and the words before it are not. */
const ChildWork = ({ child: { agent, text, reasoning, toolCalls } }: { readonly child: Child }): ReactNode => (
  <section className="troupe-child" aria-label={`Work of the ${agent}`} aria-live="off">
    {reasoning === undefined ? null : <p className="troupe-note">{reasoning}</p>}
    <p>
      <strong>{agent}</strong> {text === "" && toolCalls.length === 0 ? "begins …" : text}
    </p>
    {toolCalls.map((call) => (
      <ToolCall key={call.id} call={runningCall(call, [])} verbs={noVerbs} />
    ))}
  </section>
)

/** The calls of a child are decided in the row of the call above. */
const noVerbs: CallVerbs = { approve: async () => {} }
