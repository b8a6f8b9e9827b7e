/** A question that a tool or a sub-agent asks. */
import { type ReactNode, useState } from "react"
import { Button, classOf, Fault, type PartProps, useAttempt } from "../parts/index.ts"

/** The props of {@link Question}. */
export interface QuestionProps extends PartProps {
  /** What is asked; it also names the field. */
  readonly question: string
  /** The options of the question: the texts of `choices` become buttons. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
  /** The text of the question is shown elsewhere, and only names the field. Default: `false`. */
  readonly isNamed?: boolean | undefined
  /** Called with the answer; rejects when it is refused. */
  readonly onAnswer: (answer: string) => Promise<unknown>
  /** What to show above the field in place of the question. */
  readonly children?: ReactNode
}

const mostChoices = 12

const choicesOf = (options: QuestionProps["options"]): ReadonlyArray<string> => {
  const choices = options?.["choices"]
  return Array.isArray(choices)
    ? choices.filter((choice): choice is string => typeof choice === "string").slice(0, mostChoices)
    : []
}

/** A question, with a button for each choice and a field for any other answer. */
export const Question = ({ question, options, isNamed = false, onAnswer, className, children }: QuestionProps) => {
  const [text, setText] = useState("")
  const [isBusy, setBusy] = useState(false)
  const { fault, attempt } = useAttempt()
  const answer = async (given: string): Promise<void> => {
    if (given.trim() === "" || isBusy) return
    setBusy(true)
    if (await attempt(() => onAnswer(given))) setText("")
    setBusy(false)
  }
  const choices = choicesOf(options)
  return (
    <form
      className={classOf("question", { className })}
      data-state={isBusy ? "sent" : "open"}
      onSubmit={(event) => {
        event.preventDefault()
        void answer(text)
      }}
    >
      {children ?? (isNamed ? null : <p>{question}</p>)}
      {choices.length === 0 ? null : (
        <div className="troupe-buttons" role="group" aria-label={question}>
          {choices.map((choice) => (
            <Button key={choice} disabled={isBusy} onClick={() => void answer(choice)}>
              {choice}
            </Button>
          ))}
        </div>
      )}
      <div className="troupe-field">
        <input
          aria-label={question}
          placeholder={choices.length === 0 ? "Your answer" : "Another answer"}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button submit disabled={isBusy || text.trim() === ""}>
          Answer
        </Button>
      </div>
      <Fault fault={fault} />
    </form>
  )
}
