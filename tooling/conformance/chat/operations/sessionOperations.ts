/** The operations on sessions: each case runs a list of them on one current session. */
import { type Event, StreamCollector } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { Session } from "@troupe/chat/sessions"
import { Codec } from "@troupe/chat/store"
import type { ResultOf, SessionMode, SessionTurn } from "../../../../packages/chat/src/session/sessionOutcome.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { comparable, fresh } from "./chatOperations.ts"
import { stateForm } from "../collecting.ts"
import { type CaseEngine, engineOf, optionsOf } from "../engineOf.ts"
import { type Operation, type Outcome, read, settled } from "../outcome.ts"
import { forms } from "../values/forms.ts"
import { construct } from "../values/plain.ts"

/** The position in a list of operations. */
interface Place {
  readonly engine: CaseEngine["engine"]
  readonly session: Session.Session
  readonly options: never
}

/** The session after an operation, and its other results. */
interface Done {
  readonly session: Session.Session
  readonly outcome?: Outcome
}

type Step = (place: Place, op: Fields) => Promise<Done> | Done

type AnyResult = ResultOf["step"]

const resultForm = (result: AnyResult): Fields =>
  "haltedReason" in result ? forms.chatResult.to(result) : forms.stepResult.to(result)

const turned = ({ session, result }: SessionTurn<AnyResult>): Done => ({
  session,
  outcome: { result: resultForm(result) }
})

const inputOf = ({ input }: Fields, { session }: Place): Parameters<typeof Session.start>[1] => {
  const { session: current, messages, thread, raw_list: list, invalid } = fieldsOf(input)
  if (current === true) return session
  if (Array.isArray(messages)) return messages.map(forms.message.from)
  if (isFields(thread)) return { messages: listOf(thread["messages"]).map(forms.message.from) }
  if (Array.isArray(thread)) return thread.map(forms.message.from)
  return (list ?? construct(invalid)) as never
}

const turning =
  (call: (place: Place, op: Fields) => Promise<SessionTurn<AnyResult>>): Step =>
  async (place, op) =>
    turned(await call(place, op))

const messageIn = ({ message }: Fields) => ((message ?? null) === null ? null : forms.message.from(message))

const streamed =
  <Mode extends SessionMode>(
    own: Mode,
    open: (place: Place, op: Fields) => Promise<Session.SessionStream<Mode>>
  ): Step =>
  async (place, op) => {
    const events = await open(place, op)
    const stream = await read(events, op["consume"])
    if (op["fold"] === undefined) return { session: place.session, outcome: { stream } }
    const { mode, seed } = fieldsOf(op["fold"])
    const { session, outcome } =
      mode === own && seed !== "new"
        ? turned({ session: events.session(), result: events.result() })
        : projected(seed === "new" ? Session.make() : place.session, mode as SessionMode, stream.raw)
    return { session, outcome: { ...outcome, stream } }
  }

const reduced: Step = ({ session }, { mode = "chat", events, finalize }) => {
  const collector = new StreamCollector(session.thread)
  const state = () => JSON.stringify(stateForm(collector))
  const before = { state: state(), session: JSON.stringify(session) }
  for (const event of listOf(events)) collector.apply(forms.event.from(event))
  const once = turned(Session.after(session, mode as SessionMode, collector))
  const again = turned(Session.after(session, mode as SessionMode, collector))
  const facets: Outcome = {
    reducer: { collector: stateForm(collector) },
    reducerUnchanged: state() === before.state,
    reducerSessionUnchanged: JSON.stringify(session) === before.session
  }
  if (finalize === 0 || finalize === undefined) return { session, outcome: facets }
  return {
    session: once.session,
    outcome: { ...facets, ...once.outcome, finalizeEqual: JSON.stringify(once) === JSON.stringify(again) }
  }
}

/** Applies the result that these events have to a session. */
const projected = (session: Session.Session, mode: SessionMode, events: ReadonlyArray<Event>): Done => {
  const collector = new StreamCollector(session.thread)
  for (const event of events) collector.apply(event)
  return turned(Session.after(session, mode, collector))
}

const submitMany: Step = ({ session }, { results, compare_with_singles: compared }) => {
  const pairs = listOf(results).map((pair) => {
    const [id, value] = listOf(pair)
    return [textOf(id), construct(value)] as const
  })
  const all = Session.submitToolResults(session, pairs)
  if (compared === undefined) return { session: all }
  const singly = pairs.reduce((before, [id, value]) => Session.submitToolResult(before, id, value), session)
  return { session: all, outcome: { equalsSingles: JSON.stringify(all) === JSON.stringify(singly) } }
}

const steps: Readonly<Record<string, Step>> = {
  new: (_, { fields }) => ({ session: Session.make(forms.session.from(fields)) }),
  start: turning((place, op) => Session.start(place.engine, inputOf(op, place), place.options)),
  reply: turning(({ engine, session, options }, { text }) => Session.reply(engine, session, text as string, options)),
  continue: turning(({ engine, session, options }, op) => Session.continue(engine, session, messageIn(op), options)),
  step: turning(({ engine, session, options }) => Session.step(engine, session, options)),
  submit_tool_result: ({ session }, { id, value }) => ({
    session: Session.submitToolResult(session, textOf(id), construct(value))
  }),
  submit_tool_results: submitMany,
  append_user: ({ session }, { text }) => ({ session: Session.append(session, Message.user(text as string)) }),
  append_tool_result: ({ session }, { id, content }) => ({
    session: Session.append(session, Message.toolResult(textOf(id), construct(content)))
  }),
  pending_tool_calls: ({ session }) => ({
    session,
    outcome: { value: fieldsOf(forms.session.to(session))["pending_tool_calls"] }
  }),
  apply_chat_result: (place, { result }) =>
    projected(place.session, "chat", [{ type: "chat_completed", result: forms.chatResult.from(result) }]),
  apply_step_result: (place, { result }) => {
    const { response, thread, mode, manualToolCalls, halt } = forms.stepResult.from(result)
    return projected(place.session, "step", [{ type: "step_completed", response, thread, mode, manualToolCalls, halt }])
  },
  stream_start: streamed("chat", (place, op) => Session.streamStart(place.engine, inputOf(op, place), place.options)),
  stream_reply: streamed("chat", ({ engine, session, options }, { text }) =>
    Session.streamReply(engine, session, text as string, options)
  ),
  stream_step: streamed("step", ({ engine, session, options }) => Session.streamStep(engine, session, options)),
  round_trip: ({ session }) => ({ session: Codec.decode("Session", Codec.encode("Session", session)) }),
  reducer: reduced
}

/** A failed operation does not change the current session. */
const performed = async (place: Place, op: Fields): Promise<Done> => {
  const step = steps[textOf(op["op"])]
  if (step === undefined) throw new Error(`no operation ${textOf(op["op"])} on sessions`)
  const { ok, failure } = await settled(() => step(place, op))
  return failure === undefined ? (ok as Done) : { session: place.session, outcome: { failure } }
}

const session: Operation = async ({ engine: given, ops }, seen) => {
  const { engine, fake } = engineOf(given, seen)
  let current = Session.make()
  const each: Array<Outcome> = []
  for (const op of listOf(ops).map(fieldsOf)) {
    const before = { calls: seen.calls.length, session: JSON.stringify(forms.session.to(current)) }
    const { session: next, outcome } = await performed(
      { engine, session: current, options: optionsOf(op["opts"], seen) as never },
      op
    )
    current = next
    const form = forms.session.to(next)
    each.push({
      ...outcome,
      session: form,
      unchanged: JSON.stringify(form) === before.session,
      calls: seen.calls.slice(before.calls),
      cleanupRuns: fake?.released
    })
  }
  return { each, ...(fake === undefined ? {} : { requests: fake.requests.map(forms.request.to) }) }
}

const startVsStreamStart: Operation = (given, seen) => {
  const messages = listOf(given["messages"] ?? fieldsOf(given["thread"])["messages"]).map(forms.message.from)
  const options = () => optionsOf(given["opts"], seen)
  return settled(async () => {
    const collected = await fresh(given, seen, (engine) => Session.start(engine, messages, options()))
    const folded = await fresh(given, seen, async (engine) => {
      const events = await Session.streamStart(engine, messages, options())
      for await (const _ of events) {
        // The stream follows the events that are read.
      }
      return { session: events.session(), result: events.result() }
    })
    return [collected, folded].map((turn) => {
      const { session: after, result } = turn as SessionTurn
      const { id: _, context: __, ...form } = forms.session.to(after)
      return comparable({ session: form, result: resultForm(result) })
    })
  }).then(({ ok, failure }) => (failure === undefined ? { sides: ok, ok: listOf(ok)[0] } : { failure }))
}

/** The calls of this kind, by `when`. */
export const sessionOperations: Readonly<Record<string, Operation>> = {
  session,
  session_start_vs_stream_start: startVsStreamStart
}
