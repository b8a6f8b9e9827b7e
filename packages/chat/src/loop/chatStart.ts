/** The state of a chat that starts from a record. */
import { Clock } from "@troupe/otp"
import type { ChatInput, ChatStart } from "./chatContext.ts"
import type { ChatRecord, OpenCall } from "../record/index.ts"
import type { AnswerForm } from "../stopConditions/index.ts"
import { boundedBy, expired, hasExpired } from "./suspensionExpiry.ts"
import type { Engine } from "../tool/index.ts"
import { firstExpiry, revived } from "../step/index.ts"
import { interruptionOf } from "./interruption.ts"
import { json } from "../toolResult/index.ts"
import * as Inbox from "../inbox/Inbox.ts"

/** What a chat starts from. `cutOff` is the text of the interrupted reply, if the record does not have it. */
export interface ChatOrigin {
  readonly id: string
  readonly engine: Engine
  readonly clock?: Clock.Clock | undefined
  readonly record?: ChatRecord | undefined
  readonly cutOff?: string | undefined
  readonly stores?: boolean | undefined
  readonly suspendedTtlMs?: number | undefined
  readonly answer?: AnswerForm | undefined
}

/** The input of the chart of a chat: what its record says, as the time and the tools make it. */
export const chatStart = (origin: ChatOrigin): ChatInput => {
  const { id, record, clock = Clock.live, stores = false, answer } = origin
  const suspendedTtlMs = origin.suspendedTtlMs === Infinity ? undefined : origin.suspendedTtlMs
  const now = clock.now()
  const start = record === undefined ? undefined : startOf(record, { ...origin, suspendedTtlMs, now })
  return { id, start, now, stores, suspendedTtlMs, answer }
}

type From = Pick<ChatOrigin, "engine" | "cutOff" | "suspendedTtlMs"> & { readonly now: number }

/** An expired wait is over. `committed` is false if the store does not have the new state yet. */
const startOf = (record: ChatRecord, { engine, cutOff, suspendedTtlMs, now }: From): ChatStart => {
  const { thread, open: left, pendingQuestion, pendingToolCalls } = revived(record, engine, now)
  const open = boundedBy({ suspendedTtlMs, now }, left)
  const interrupted = interruptionOf(record, { open, pendingQuestion, pendingToolCalls }, cutOff)
  const start: ChatStart = {
    thread,
    usage: record.usage,
    inbox: inboxOf(record),
    inputs: record.inputs ?? [],
    known: record.known ?? [],
    committed: true,
    lastHaltedReason: record.lastHaltedReason,
    pendingQuestion,
    pendingToolCalls,
    open,
    interrupted,
    standing: record.permissionMode,
    expiresAt: record.expiresAt ?? (open === undefined ? undefined : firstExpiry(open))
  }
  if (hasExpired(start, now)) {
    const rules = { toolResultEncoder: engine.toolResultEncoder ?? json }
    return { ...start, ...expired({ ...start, suspendedTtlMs }, rules, now), committed: false }
  }
  const isKnown = open === undefined || open.calls.every((call, at) => isSameWait(call, record.open?.calls[at]))
  return { ...start, committed: isKnown && (interrupted === undefined || cutOff === undefined) }
}

/** A late write can leave the row of an input that the thread has. */
const inboxOf = ({ inbox = [], inputs = [], known = [] }: ChatRecord): Inbox.Inbox =>
  inbox.length === 0 ? Inbox.empty : Inbox.holding(inbox, new Set([...inputs, ...known]))

const isSameWait = (call: OpenCall, kept: OpenCall | undefined): boolean =>
  call.state !== "waiting" || (kept?.state === "waiting" && kept.expiresAt === call.expiresAt)
