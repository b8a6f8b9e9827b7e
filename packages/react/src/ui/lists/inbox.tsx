/** What all chats wait for: the human inbox. */
import * as Clock from "@troupe/otp/clock"
import type { ReactNode } from "react"
import { age } from "../../format/index.ts"
import type { Waiting } from "../../hooks/index.ts"
import { canDecline, Decide, Question, questionFor } from "../call/index.ts"
import { Button, classOf, Fault, type PartProps, type UndoOptions } from "../parts/index.ts"
import { useStillRows } from "./stillRows.ts"

/** One row of `useWaiting`: what a conversation waits for, and since when. */
export type ListedWait = Waiting["waits"][number]

/** The props of {@link Inbox}. */
export interface InboxProps extends PartProps, UndoOptions {
  /** What the chats wait for, as `useWaiting` returns it. */
  readonly waiting: Waiting
  /** The title of a chat. Default: its id. */
  readonly titleOf?: ((chat: string) => string | undefined) | undefined
  /** The address of a chat. Default: a row is no link. */
  readonly hrefOf?: ((chat: string) => string) | undefined
  /** The id of the chat that is open: it shows its own questions, and its rows have no buttons. */
  readonly current?: string | undefined
  /** Called with the id of a chat that a person opens. */
  readonly onOpen?: ((chat: string) => void) | undefined
  /** Renders what a row is about. Default: the question, or the arguments of the call. */
  readonly children?: ((wait: ListedWait) => ReactNode) | undefined
}

/** Who waits, and for what. */
const needOf = ({ kind, tool, agent }: ListedWait): string => {
  if (kind === "question") return `${agent?.name ?? tool} asks`
  const who = agent === undefined ? tool : `${agent.name} · ${tool}`
  if (kind === "tool_result") return `${who} needs a result`
  return `${who} · ${questionFor[kind === "approval" ? "permission" : kind]}`
}

const keyOf = ({ chat, toolCallId }: ListedWait): string => `${chat} ${toolCallId}`

/** What stored chats wait for, the oldest first. Each row names the conversation, the agent and its age, and decides or answers. */
export const Inbox = (props: InboxProps): ReactNode => {
  const { waiting, titleOf, hrefOf, current, onOpen, children, className, undoMs, clock = Clock.live } = props
  const { waits, error, more, loading } = waiting
  const { rows, hold } = useStillRows(waits, keyOf)
  const count = waits.length
  return (
    <section className={classOf("inbox", { className })} aria-label="Waiting for you">
      <h2 role="status">
        Inbox
        <span className="troupe-count" data-empty={count === 0 || undefined}>
          {count}
        </span>
        <span className="troupe-hidden">{count === 0 ? "Nothing waits for you" : "waiting for you"}</span>
      </h2>
      <Fault fault={error?.message} />
      {rows.length === 0 && !loading && error === undefined ? (
        <p className="troupe-empty">Nothing waits for you.</p>
      ) : (
        <ul tabIndex={0} aria-label="What waits for you" {...hold}>
          {rows.map(({ key, row, isOver }) => (
            <li key={key} data-escalated={row.escalatedAt !== undefined || undefined} data-over={isOver || undefined}>
              <Heading wait={row} titleOf={titleOf} hrefOf={hrefOf} onOpen={onOpen} now={clock.now()} />
              <p className="troupe-about" title={row.text}>
                {children?.(row) ?? (row.kind === "question" ? row.text : `${row.tool} ${shortJson(row.text)}`)}
              </p>
              {isOver ? (
                <p className="troupe-note">Decided</p>
              ) : row.chat === current ? null : (
                <Reply wait={row} waiting={waiting} undoMs={undoMs} clock={clock} />
              )}
            </li>
          ))}
        </ul>
      )}
      {more === undefined ? null : (
        <Button tone="quiet" onClick={() => void more()}>
          More of these
        </Button>
      )}
    </section>
  )
}

/** The arguments without the signs of JSON, if they are short. */
const shortJson = (text: string): string =>
  text === "{}" ? "" : text.replaceAll(/[{}"]/g, "").replaceAll(",", ", ").replaceAll(":", ": ")

interface HeadingProps extends Pick<InboxProps, "titleOf" | "hrefOf" | "onOpen"> {
  readonly wait: ListedWait
  readonly now: number
}

const Heading = ({ wait, titleOf, hrefOf, onOpen, now }: HeadingProps) => {
  const { chat } = wait
  const title = titleOf?.(chat) ?? chat
  return (
    <div className="troupe-heading">
      {hrefOf === undefined ? (
        <strong>{title}</strong>
      ) : (
        <a href={hrefOf(chat)} title={title} onClick={() => onOpen?.(chat)}>
          {title}
        </a>
      )}
      <span className="troupe-note">
        {needOf(wait)} · {age(Math.max(0, now - wait.askedAt))}
      </span>
    </div>
  )
}

interface ReplyProps extends UndoOptions {
  readonly wait: ListedWait
  readonly waiting: Waiting
}

const Reply = ({ wait, waiting: { approve, answer }, ...undo }: ReplyProps) => {
  const { kind, tool, text } = wait
  return kind === "approval" || kind === "unknown_outcome" ? (
    <Decide
      kind={kind === "approval" ? "permission" : kind}
      name={tool}
      onDecide={(decision) => approve(wait, decision)}
      {...undo}
    />
  ) : (
    <Question
      question={kind === "question" ? text : `The result of ${tool}`}
      options={wait.options}
      isNamed
      onAnswer={(given) => answer(wait, given)}
      onDecline={canDecline(wait.options) ? () => approve(wait, { type: "deny" }) : undefined}
    />
  )
}
