/**
 * Folds the events of a session's turn into the session after it.
 *
 * Owns: the events folded so far. Does not own the session it began with, which it never changes, nor where events come
 * from: a stream in this program, or the network.
 *
 * RED1. `apply` is total, as the collector's is.
 * RED2. `finalize` changes nothing: it can be asked at any time, again, and more events may follow.
 * RED3. Events that end early lose nothing that was committed: of a chat the finished steps, the calls and the question
 *       they left open stay, and the status says `cancelled`, or `error` if one was seen; of a step nothing was
 *       committed, and the session is as before.
 *
 * @module
 * @source ALLM.Session.StreamReducer
 */
import { ValidationError } from "../errors/index.ts"
import type { ChatResult } from "../record/index.ts"
import { type Event, StreamCollector } from "../events/index.ts"
import { afterChat, afterStep, endOf } from "./sessionOutcome.ts"
import type { Session } from "./sessionState.ts"
import type { SessionMode, ResultOf, SessionTurn } from "./turnResult.ts"

export type { SessionMode, ResultOf, SessionTurn } from "./turnResult.ts"

/**
 * The running fold of one turn.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for another mode.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Message } from "@troupe/chat/messages"
 * import { Session, SessionReducer } from "@troupe/chat/sessions"
 *
 * const asked = Session.make({ thread: [Message.user("hi")] })
 * const reducer = new SessionReducer(asked, { mode: "chat" })
 * reducer.apply({ type: "text_delta", id: null, delta: "Hel" })
 * const { session, result } = reducer.finalize()
 * session.status // => "cancelled"
 * session.thread // => asked.thread
 * result.finalResponse?.outputText // => "Hel"
 * ```
 */
export class SessionReducer<Mode extends SessionMode = "chat"> {
  readonly session: Session
  readonly mode: Mode
  /** The fold of the events themselves, to be read: the text and the calls of the running reply. */
  readonly collector: StreamCollector

  constructor(session: Session, options: { readonly mode: Mode }) {
    if (!Object.hasOwn(finalizers, options.mode)) {
      throw new ValidationError("invalid_options", [{ field: ["mode"], reason: "must_be_one_of chat, step" }])
    }
    this.session = session
    this.mode = options.mode
    this.collector = new StreamCollector(session.thread)
  }

  /** Folds one event. */
  apply(event: Event): void {
    this.collector.apply(event)
  }

  /** The session and the result, if the events ended here. */
  finalize(): SessionTurn<ResultOf[Mode]> {
    const finalizer: Finalizers[Mode] = finalizers[this.mode]
    return finalizer(this.session, this.collector)
  }
}

type Finalizers = {
  readonly [Mode in SessionMode]: (session: Session, collector: StreamCollector) => SessionTurn<ResultOf[Mode]>
}

const finalizers: Finalizers = {
  chat: (session, collector) => {
    const result = collector.chatResult ?? leftEarly(collector)
    return { session: afterChat(session, result), result }
  },
  step: (session, collector) => {
    const [step] = collector.steps
    return step === undefined
      ? { session, result: collector.toChatResult() }
      : { session: afterStep(session, step), result: step }
  }
}

/** What there is of a chat without its end; what its last step waits for, it goes on waiting for. */
const leftEarly = (collector: StreamCollector): ChatResult => {
  const last = collector.steps.at(-1)
  const end = last === undefined ? undefined : endOf(last)
  return {
    ...collector.toChatResult(),
    pendingToolCalls: end?.pendingToolCalls ?? [],
    ...(end?.pendingQuestion === undefined ? {} : { pendingQuestion: end.pendingQuestion })
  }
}
