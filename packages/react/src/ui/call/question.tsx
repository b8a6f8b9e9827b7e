/** A question that a tool or a sub-agent asks. */
import { type ReactNode, useMemo, useState } from "react"
import { Button, classOf, Fault, Link, type PartProps, useAttempt } from "../parts/index.ts"
import { FormField } from "./formField.tsx"
import { fieldId, fieldsOf, filledIn, pageIn } from "./formFields.ts"

/** The props of {@link Question}. */
export interface QuestionProps extends PartProps {
  /** What is asked; it also names the field. */
  readonly question: string
  /**
   * The options of the question: the texts of `choices` become buttons, and the properties of `schema` fields of a form. `schema` is a JSON
   * Schema of an object, whose properties are texts, numbers, booleans, and choices of texts. With another schema there is one field for text.
   * `url` is a page that the person opens first: a link if it begins with `http:` or `https:`, else its text.
   */
  readonly options?: Readonly<Record<string, unknown>> | undefined
  /** The text of the question is shown elsewhere, and only names the field. Default: `false`. */
  readonly isNamed?: boolean | undefined
  /** Called with the answer, which is JSON for a form; rejects when it is refused. */
  readonly onAnswer: (answer: string) => Promise<unknown>
  /** Called when a person answers nothing; rejects when that is refused. Default: there is no button for it. */
  readonly onDecline?: (() => Promise<unknown>) | undefined
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

/** A question, with a button for each choice and a field for any other answer, or with the fields of a form. */
export const Question = (props: QuestionProps) => {
  const { question, options, isNamed = false, onAnswer, onDecline, className, children } = props
  const [text, setText] = useState("")
  const [isBusy, setBusy] = useState(false)
  const { fault, attempt } = useAttempt()
  const send = async (action: () => Promise<unknown>): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    if (await attempt(action)) setText("")
    setBusy(false)
  }
  const answer = async (given: string): Promise<void> => {
    if (given.trim() !== "") await send(() => onAnswer(given))
  }
  const page = pageIn(options)
  const listed = choicesOf(options)
  const choices = page !== undefined && listed.length === 0 ? ["Done"] : listed
  const fields = useMemo(() => fieldsOf(options), [options])
  const decline =
    onDecline === undefined ? null : (
      <Button tone="quiet" disabled={isBusy} onClick={() => void send(onDecline)}>
        Decline
      </Button>
    )
  return (
    <form
      className={classOf("question", { className })}
      data-state={isBusy ? "sent" : "open"}
      aria-label={fields === undefined ? undefined : question}
      onSubmit={(event) => {
        event.preventDefault()
        void answer(fields === undefined ? text : JSON.stringify(filledIn(fields, new FormData(event.currentTarget))))
      }}
    >
      {children ?? (isNamed ? null : <p>{question}</p>)}
      {page === undefined ? null : (
        <p className="troupe-page">
          <Link href={page}>{page}</Link>
        </p>
      )}
      {fields === undefined ? (
        <>
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
            {decline}
          </div>
        </>
      ) : (
        <>
          {fields.map((field, at) => (
            <FormField key={field.name} field={field} name={fieldId(at)} />
          ))}
          <div className="troupe-buttons">
            <Button submit tone="primary" disabled={isBusy}>
              Answer
            </Button>
            {decline}
          </div>
        </>
      )}
      <Fault fault={fault} />
    </form>
  )
}
