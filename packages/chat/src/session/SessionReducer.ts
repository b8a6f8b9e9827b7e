/**
 * Reduces the events of a session's turn to the session after it.
 *
 * Owns: the events reduced so far. Does not own the initial session, which it never changes, nor the source of the events:
 * a stream in this program, or the network.
 *
 * RED1. `apply` never throws, as the collector's never does.
 * RED2. `finalize` changes nothing: it can be called at any time and repeatedly, and more events may follow.
 * RED3. When the events end early, committed data is kept. Of a chat the finished steps, their pending calls and their
 *       question stay, and the status is `cancelled`, or `error` after an error event. A step commits nothing before its
 *       end, so the session is as before.
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
 * The reducer of one turn.
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
  /** The collector of the events: the text and the calls of the running reply, for reading. */
  readonly collector: StreamCollector

  constructor(session: Session, options: { readonly mode: Mode }) {
    if (!Object.hasOwn(finalizers, options.mode)) {
      throw new ValidationError("invalid_options", [{ field: ["mode"], reason: "must_be_one_of chat, step" }])
    }
    this.session = session
    this.mode = options.mode
    this.collector = new StreamCollector(session.thread)
  }

  /** Applies one event. */
  apply(event: Event): void {
    this.collector.apply(event)
  }

  /** The session and the result as if the events ended here. */
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

/** The result of a chat without its end; pending calls and questions of its last step stay pending. */
const leftEarly = (collector: StreamCollector): ChatResult => {
  const last = collector.steps.at(-1)
  const end = last === undefined ? undefined : endOf(last)
  return {
    ...collector.toChatResult(),
    pendingToolCalls: end?.pendingToolCalls ?? [],
    ...(end?.pendingQuestion === undefined ? {} : { pendingQuestion: end.pendingQuestion })
  }
}
