/** The card of a call that waits for a decision. */
import type { Decision, PendingApproval } from "@troupe/chat/tools"
import { type ReactNode, useId, useState } from "react"
import { errorText, json } from "../../format/index.ts"
import { Button, classOf, type PartProps, type UndoOptions } from "../parts/index.ts"
import { Decide } from "./decide.tsx"
import { questionFor } from "./decisions.ts"
import { canDecline } from "./formFields.ts"
import { Question } from "./question.tsx"

/** The props of {@link Approval}. */
export interface ApprovalProps extends PartProps, UndoOptions {
  /** The call that waits, as the `approvals` of a chat have it. */
  readonly approval: PendingApproval
  /** Called with the id of the call and the decision; rejects when it is refused. */
  readonly onDecide: (toolCallId: string, decision: Decision) => Promise<unknown>
  /** What to show in place of the arguments. */
  readonly children?: ReactNode
}

/** The arguments in a text, or the reason why there are none. */
const read = (text: string): Readonly<Record<string, unknown>> | string => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : "The arguments must be a JSON object."
  } catch (error) {
    return `This is no JSON: ${errorText(error)}`
  }
}

/**
 * A call that waits for a decision: why, with which arguments, and the buttons. The arguments can be changed before they are allowed. A
 * question of a sub-agent has a field instead.
 *
 * **Details**: a decision can be undone for `undoMs` before it is sent.
 */
export const Approval = ({ approval, onDecide, children, className, undoMs, clock }: ApprovalProps): ReactNode => {
  const { toolCall, reason, kind, agent, options } = approval
  const [draft, setDraft] = useState<string>()
  const problem = useId()
  const decide = (decision: Decision): Promise<unknown> => onDecide(toolCall.id, decision)
  const isQuestion = kind === "question" || kind === "tool_result"
  const edited = draft === undefined ? undefined : read(draft)
  const who = agent === undefined ? null : <strong>{agent}: </strong>
  return (
    <section
      className={classOf("approval", { className })}
      data-kind={kind}
      aria-label={`Decision about ${toolCall.name}`}
    >
      {isQuestion ? (
        <Question
          question={kind === "question" ? reason : `The result of ${toolCall.name}`}
          options={options}
          onAnswer={(value) => decide({ type: "result", value })}
          onDecline={canDecline(options) ? () => decide({ type: "deny" }) : undefined}
        >
          <p>
            {who}
            {kind === "question" ? reason : `The call of ${toolCall.name} needs a result.`}
          </p>
        </Question>
      ) : (
        <>
          <p className="troupe-ask">
            {who}
            {questionFor[kind]}
            {kind === "permission" || reason === "" ? null : <span className="troupe-note"> {reason}</span>}
          </p>
          {children ?? (
            <Arguments
              text={draft ?? (toolCall.arguments === null ? (toolCall.rawArguments ?? "") : json(toolCall.arguments))}
              name={toolCall.name}
              problem={problem}
              isInvalid={typeof edited === "string"}
              onEdit={draft === undefined ? undefined : setDraft}
            />
          )}
          <p id={problem} role="status" className="troupe-fault">
            {typeof edited === "string" ? edited : null}
          </p>
          <Decide
            kind={kind}
            edited={typeof edited === "string" ? undefined : edited}
            isBlocked={typeof edited === "string"}
            onDecide={decide}
            undoMs={undoMs}
            clock={clock}
          >
            {toolCall.arguments === null || children !== undefined ? null : (
              <Button
                tone="quiet"
                icon="edit"
                onClick={() => setDraft(draft === undefined ? json(toolCall.arguments) : undefined)}
              >
                {draft === undefined ? "Edit the arguments" : "As they were"}
              </Button>
            )}
          </Decide>
        </>
      )}
    </section>
  )
}

interface ArgumentsProps {
  readonly text: string
  readonly name: string
  readonly problem: string
  readonly isInvalid: boolean
  readonly onEdit: ((text: string) => void) | undefined
}

const Arguments = ({ text, name, problem, isInvalid, onEdit }: ArgumentsProps) =>
  onEdit === undefined ? (
    <pre className="troupe-json" tabIndex={0} aria-label={`Arguments of ${name}`}>
      {text}
    </pre>
  ) : (
    <textarea
      className="troupe-json"
      aria-label={`Arguments of ${name}`}
      aria-invalid={isInvalid}
      aria-describedby={problem}
      spellCheck={false}
      rows={Math.min(12, text.split("\n").length)}
      value={text}
      onChange={(event) => onEdit(event.target.value)}
    />
  )
