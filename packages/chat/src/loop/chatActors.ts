/**
 * The actors and effects of a chat's chart: what its environment does for it.
 *
 * EFFECT1. The charts of a chat have no effects outside {@link NamedEffect}. The host of the chart's process performs them
 *          (`packages/otp/src/machine/host`); under `createActor`, XState does.
 * CHAT11. Hooks are called for a user message before it is stored, for a request before it is sent, and for the end of a
 *         turn after it is stored and before `chat_completed`. The environment calls them, never the chart; a cancel does
 *         not wait for them. Without hooks there is no transition for them.
 */
import { StateMachine } from "@troupe/otp"
import type { AnyActorLogic, EventObject, InputFrom } from "xstate"
import { calls } from "../batch/index.ts"
import { type callActors, type callEffects, toolCallMachine } from "../call/index.ts"
import { adapterStreamMachine, type streamActors, type streamEffects } from "../request/index.ts"
import type { ChatContext, ChatEvent, Closed } from "./chatContext.ts"
import type { ChatEnv, Saving, StepEnd, StepFinish, StepOpening, TurnBegin, TurnEnd } from "./chatEnv.ts"
import type { CompactionStep } from "../step/index.ts"
import type { DueHooks } from "./lifecycleHooks.ts"
import type { WaitEnd } from "./suspensionExpiry.ts"
import { isPromiseLike } from "../async/index.ts"
import { boundEnvironment, type PreflightError } from "../errors/index.ts"
import type { Discarded, LostInputs } from "../inbox/index.ts"
import { isUnanswered } from "../store/index.ts"
import type { InboxEntry, Mode, ModeStanding, OpenStep } from "../record/index.ts"
import { type Held, held, original } from "../values/index.ts"

type Sent<Type extends ChatEvent["type"]> = Extract<ChatEvent, { readonly type: Type }>

/** Calls `over` with nothing, or with the error, when the save has ended. */
const saving = (
  env: ChatEnv,
  data: Saving,
  isGivenUp: () => boolean,
  over: (failure?: { readonly error: unknown }) => void
): void => {
  let kept: void | Promise<void>
  try {
    kept = env.save(data, isGivenUp)
  } catch (error) {
    return over({ error })
  }
  if (!isPromiseLike(kept)) return over()
  Promise.resolve(kept).then(
    () => over(),
    (error: unknown) => over({ error })
  )
}

/** Commits a record. */
const commit = StateMachine.fromCallback<
  Saving & { readonly turn: string | undefined },
  ChatEnv,
  EventObject,
  Sent<"commit.ended" | "commit.failed">
>(({ input, env, send }) => {
  let isGivenUp = false
  const isOver = (): boolean => isGivenUp
  saving(env, input, isOver, (failure) => {
    if (isGivenUp) return
    const moment = env.moment(input.turn)
    if (failure === undefined) {
      env.stored()
      return send({ type: "commit.ended", ...moment })
    }
    const { error } = failure
    send({ type: "commit.failed", error, unanswered: isUnanswered(error), ...moment })
  })
  return {
    close: () => {
      isGivenUp = true
    }
  }
})

/** Begins a turn. */
const begin = StateMachine.fromCallback<TurnBegin, ChatEnv, EventObject, Sent<"turn.begun">>(({ input, env, send }) =>
  send({ type: "turn.begun", ...boundEnvironment(env).begin(input), ...env.moment(input.turn) })
)

/** Calls the hooks; leaving the state aborts their signal (CHAT11). */
const hooks = StateMachine.fromCallback<DueHooks, ChatEnv, EventObject, Sent<"hooks.answered">>(
  ({ input, env, send }) => {
    const controller = new AbortController()
    void env
      .notify(input, controller.signal)
      .then((verdict) => send({ type: "hooks.answered", verdict, ...env.moment(input.turn) }))
    return { close: () => controller.abort() }
  }
)

/** Prepares the live things of a step for a phase, and passes their notices to the chart meanwhile. */
const step = StateMachine.fromCallback<StepOpening, ChatEnv, EventObject, ChatEvent>(({ input, env, send }) => {
  const close = boundEnvironment(env).open(input, send)
  return close === undefined ? undefined : { close }
})

/** Plans a compaction, or continues it with the summary. */
const compaction = StateMachine.fromCallback<StepOpening, ChatEnv, EventObject, Extract<ChatEvent, CompactionStep>>(
  ({ input, env, send }) =>
    boundEnvironment(env).compact(input, (event) => send({ ...event, ...env.moment(input.turn) }))
)

/** Emits the last events of a step, and asks the stop conditions when they are read. */
const finish = StateMachine.fromCallback<
  StepFinish,
  ChatEnv,
  EventObject & Pick<ChatContext, "stopped">,
  Sent<"step.ended" | "step.failed">
>(({ input, env, send }) => {
  let { stopped } = input
  const ended = (end: StepEnd): Sent<"step.ended" | "step.failed"> => {
    try {
      return { type: "step.ended", ...end(stopped), ...env.moment(input.turn) }
    } catch (error) {
      return { type: "step.failed", error: held(error) }
    }
  }
  env.finish(input, (end) => send(ended(end)))
  return {
    receive: (event) => {
      stopped = event.stopped
    }
  }
})

/** Answers the open calls of a turn that is to stop. */
const close = StateMachine.fromCallback<
  Closed & { readonly open: OpenStep; readonly turn: string },
  ChatEnv,
  EventObject,
  Sent<"calls.closed">
>(({ input: { turn, ...state }, env, send }) =>
  send({ type: "calls.closed", closed: env.close(turn, state), ...env.moment(turn) })
)

/** Answers the calls or the question of a wait that has expired, or that a person ended. */
const expire = StateMachine.fromCallback<WaitEnd, ChatEnv, EventObject, Sent<"wait.closed">>(({ input, env, send }) =>
  send({ type: "wait.closed", expired: env.expire(input), ...env.moment() })
)

/** Emits the last events of a turn. */
const complete = StateMachine.fromCallback<TurnEnd, ChatEnv, EventObject, Sent<"events.taken">>(
  ({ input, env, send }) => env.complete(input, () => send({ type: "events.taken", ...env.moment() }))
)

export const chatActors = {
  adapterStream: adapterStreamMachine,
  toolCall: toolCallMachine,
  calls,
  commit,
  begin,
  hooks,
  step,
  compaction,
  finish,
  close,
  expire,
  complete
}

export const chatEffects = {
  /** Fails a turn that does not begin. */
  refuse: StateMachine.effect<{ readonly turn: string; readonly error: unknown }, ChatEnv>(({ turn, error }, { env }) =>
    env.turns.fail([turn], error)
  ),
  /** Ends the process with an exception of a stop condition. */
  crash: StateMachine.effect<{ readonly error: Held<unknown> }>(({ error }) => {
    throw original(error)
  }),
  /** Ends a step whose request could not be opened. */
  refuseStep: StateMachine.effect<{ readonly error: Held<PreflightError> }, ChatEnv>(({ error }, { env }) =>
    env.refused(original(error))
  ),
  /** Settles the receipts of inputs that wait, or wait again; `back` is one that needs a row first. */
  settle: StateMachine.effect<LostInputs & { readonly back?: string; readonly error?: unknown }, ChatEnv>(
    (receipts, { env }) => env.turns.settle(receipts, receipts.error)
  ),
  /** Accepts inputs that have no row, and again those whose rows a late commit may remove. */
  acceptAgain: StateMachine.effect<
    { readonly inputs: ReadonlyArray<InboxEntry>; readonly isDoubted: boolean },
    ChatEnv,
    Sent<"input.held">
  >(({ inputs, isDoubted }, { env, send }) =>
    env.turns.acceptAgain(inputs, isDoubted, (turn, status) => send({ type: "input.held", turn, status }))
  ),
  deliver: StateMachine.effect<{ readonly turns: ReadonlyArray<string>; readonly within: string | undefined }, ChatEnv>(
    ({ turns, within }, { env }) => {
      if (within !== undefined) env.turns.deliver(turns, within)
    }
  ),
  saveJournal: StateMachine.effect<Saving, ChatEnv>((data, { env }) => env.saveJournal(data)),
  keep: StateMachine.effect<Saving, ChatEnv>((data, { env }) => env.keep(data)),
  setMode: StateMachine.effect<
    {
      readonly mode: Mode
      readonly ask: number | undefined
      readonly standing: ModeStanding | undefined
      readonly saving: Saving | undefined
    },
    ChatEnv,
    Sent<"mode.changed">
  >(({ mode, ask, standing, saving: data }, { env, send }) => {
    env.setMode(mode, ask, standing, data)
    send({ type: "mode.changed", standing: env.standing })
  }),
  keepAsked: StateMachine.effect<
    { readonly ask: number | undefined; readonly saving: Saving | "refused" | undefined },
    ChatEnv
  >(({ ask, saving: data }, { env }) => env.keepAsked(ask, data)),
  /** Removes the rows of withdrawn inputs. */
  discard: StateMachine.effect<{ readonly inputs: ReadonlyArray<Discarded>; readonly saving: Saving }, ChatEnv>(
    ({ inputs, saving: data }, { env }) => env.discard(inputs, data)
  ),
  close: StateMachine.effect<{ readonly turn: string } & Pick<TurnEnd, "result">, ChatEnv>(
    ({ turn, result }, { env }) => env.end(turn, result)
  )
}

/** The start of an actor: a child machine, or code that sends its results to the chart. */
type Start<Chart extends string, Actors> = {
  readonly [Name in keyof Actors & string]: {
    readonly chart: Chart
    readonly kind: "start"
    readonly name: Name
    readonly input: Actors[Name] extends AnyActorLogic ? InputFrom<Actors[Name]> : never
  }
}[keyof Actors & string]

/** A call of code that has no end. */
type Perform<Chart extends string, Effects> = {
  readonly [Name in keyof Effects & string]: {
    readonly chart: Chart
    readonly kind: "effect"
    readonly name: Name
    readonly params: Effects[Name] extends (args: never, params: infer Params) => void ? Params : never
  }
}[keyof Effects & string]

/**
 * An effect of a chart: its name, and its data. This union is closed (EFFECT1).
 *
 * - `chat`: commits, hooks, stop conditions and receipts; the steps, their requests and their calls
 * - `adapterStream`: the attempts of a request, and its last event
 * - `toolCall`: the handler, and notices of its state
 */
export type NamedEffect =
  | Start<"chat", typeof chatActors>
  | Perform<"chat", typeof chatEffects>
  | Start<"adapterStream", typeof streamActors>
  | Perform<"adapterStream", typeof streamEffects>
  | Start<"toolCall", typeof callActors>
  | Perform<"toolCall", typeof callEffects>
