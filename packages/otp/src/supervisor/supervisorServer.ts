/**
 * The callbacks of a supervisor's process.
 *
 * SUPS1. A supervisor traps exits. The exit of a process that is not its parent or child has no effect.
 * SUPS2. A request changes the children only when it is accepted.
 * SUPS3. No request kills a supervisor: an invalid one is refused.
 */
import {
  ChildRefused,
  type ChildSpec,
  FailedToStartChild,
  InvalidOption,
  isExit,
  type Pid,
  restartOf,
  shutdown,
  StartFailed,
  typeOf
} from "../core/index.ts"
import type { Cell } from "../kernel/index.ts"
import type { ChildEntry } from "./children.ts"
import { checkAmount, checkWord, specError } from "./optionRules.ts"
import { RestartWindow } from "./restartWindow.ts"
import { type Callbacks, type ServerOptions, ServerResult } from "../server/index.ts"
import { Retry, Supervising } from "./childRestarts.ts"
import type { AutoShutdown, Strategy, Verdict } from "./childRestarts.ts"

/** The start options of a supervisor, with defaults. */
export interface Plan {
  readonly strategy: Strategy
  readonly children: ReadonlyArray<ChildSpec>
  readonly maxRestarts: number
  readonly maxSeconds: number
  readonly autoShutdown: AutoShutdown
}

/** A child in the list of `whichChildren`: its process, `"restarting"` between two attempts, or none. */
export interface ChildInfo<out P extends Pid = Pid> {
  /** The id of its spec. */
  readonly id: string
  /** The process, or `"restarting"` between two attempts; `undefined` while there is none. */
  readonly pid: P | "restarting" | undefined
  /** Whether the child is a supervisor. */
  readonly type: "supervisor" | "worker"
}

/** The numbers of a supervisor's children: specs, and among them the running ones, supervisors and workers. */
export interface ChildCounts {
  /** The specs, whether their children run or not. */
  readonly specs: number
  /** The children that run. */
  readonly active: number
  /** The specs of supervisors. */
  readonly supervisors: number
  /** The specs of other children. */
  readonly workers: number
}

/** A request to a supervisor. */
export type Request =
  | { readonly _tag: "which" }
  | { readonly _tag: "count" }
  | { readonly _tag: "start"; readonly spec: ChildSpec }
  | { readonly _tag: "terminate" | "restart" | "delete"; readonly id: string }

/** The reply to a request: a value, or the error for the caller. */
export type Outcome = { readonly ok: unknown } | { readonly error: Error }

export const noreply = (state: unknown): ServerResult =>
  new ServerResult("noreply", state, undefined, undefined, undefined)
export const replying = (value: Outcome, state: unknown): ServerResult =>
  new ServerResult("reply", state, value, undefined, undefined)

/** The result for a verdict: continue, or stop. */
export const following = (
  verdict: Verdict | Promise<Verdict>,
  state: unknown
): ServerResult | Promise<ServerResult> => {
  if (verdict === "goOn") return noreply(state)
  if (verdict === "giveUp") return new ServerResult("stop", state, undefined, "shutdown", undefined)
  return verdict.then((late) => following(late, state))
}

/** The names of a supervisor, as options of its start. */
export const namesOf = (
  { name, via, label }: Pick<ServerOptions, "name" | "via" | "label">,
  kind: string
): ServerOptions => ({
  ...(name !== undefined && { name }),
  ...(via !== undefined && { via }),
  label: label ?? name ?? via?.name ?? kind,
  trapExit: true
})

type Problem = "duplicateId" | "significantUnheeded" | "significantPermanent"

/** Returns the conflict of a spec with this rule, if any. */
const problemOf = (spec: ChildSpec, autoShutdown: AutoShutdown): Problem | undefined => {
  if (spec.significant !== true) return undefined
  if (autoShutdown === "never") return "significantUnheeded"
  return restartOf(spec) === "permanent" ? "significantPermanent" : undefined
}

/** Checks the restart limits of any supervisor. */
export const checkWindow = (plan: { readonly maxRestarts: number; readonly maxSeconds: number }): void => {
  checkAmount("maxRestarts", plan.maxRestarts)
  checkAmount("maxSeconds", plan.maxSeconds)
  if (plan.maxSeconds > 0) return
  throw new InvalidOption({ option: "maxSeconds", value: plan.maxSeconds, allowed: "a number above 0" })
}

const checkPlan = (plan: Plan): void => {
  checkWord("strategy", plan.strategy, ["oneForOne", "oneForAll", "restForOne"])
  checkWord("autoShutdown", plan.autoShutdown, ["never", "anySignificant", "allSignificant"])
  checkWindow(plan)
  if (!Array.isArray(plan.children)) {
    throw new InvalidOption({ option: "children", value: plan.children, allowed: "a list of child specs" })
  }
  for (const spec of plan.children) {
    const wrong = specError(spec)
    if (wrong !== undefined) throw wrong
  }
}

const badSpec = (plan: Plan): { readonly id: string; readonly reason: Problem } | undefined => {
  const seen = new Set<string>()
  for (const spec of plan.children) {
    const reason = seen.has(spec.id) ? "duplicateId" : problemOf(spec, plan.autoShutdown)
    if (reason !== undefined) return { id: spec.id, reason }
    seen.add(spec.id)
  }
  return undefined
}

const init = async (plan: Plan, self: Cell): Promise<ServerResult> => {
  checkPlan(plan)
  const bad = badSpec(plan)
  if (bad !== undefined) return failing(new ChildRefused({ ...bad, pid: undefined }))
  const window = new RestartWindow(plan.maxRestarts, plan.maxSeconds)
  const supervising = new Supervising(self, plan.strategy, plan.autoShutdown, window)
  const failed = await supervising.startAll(plan.children)
  if (failed !== undefined) return failing(shutdown(new FailedToStartChild(failed)))
  return new ServerResult("ok", supervising, undefined, undefined, undefined)
}

const failing = (reason: unknown): ServerResult => new ServerResult("stop", undefined, undefined, reason, undefined)

const infoOf = (entry: ChildEntry): ChildInfo => ({
  id: entry.spec.id,
  pid: entry.restarting ? "restarting" : entry.cell,
  type: typeOf(entry.spec)
})

export const countOf = (infos: ReadonlyArray<ChildInfo>): ChildCounts => {
  const supervisors = infos.filter((info) => info.type === "supervisor").length
  const active = infos.filter((info) => info.pid !== undefined && info.pid !== "restarting").length
  return { specs: infos.length, active, supervisors, workers: infos.length - supervisors }
}

export const refused = (reason: ChildRefused["reason"], id: string, pid?: Pid): Outcome => ({
  error: new ChildRefused({ reason, id, pid })
})

const add = async (state: Supervising, spec: ChildSpec): Promise<Outcome> => {
  const problem = problemOf(spec, state.autoShutdown)
  if (problem !== undefined) return refused(problem, spec.id)
  const existing = state.children.byId(spec.id)
  if (existing !== undefined) {
    return existing.cell === undefined
      ? refused("alreadyPresent", spec.id)
      : refused("alreadyStarted", spec.id, existing.cell)
  }
  const entry = state.children.add(spec)
  const started = await state.start(entry)
  if (started._tag !== "Failed") return { ok: started._tag === "Up" ? started.cell : undefined }
  state.children.remove(entry)
  return { error: new StartFailed({ reason: started.reason }) }
}

const again = async (state: Supervising, entry: ChildEntry): Promise<Outcome> => {
  const started = await state.start(entry)
  if (started._tag === "Failed") return { error: new StartFailed({ reason: started.reason }) }
  return { ok: started._tag === "Up" ? started.cell : undefined }
}

const withChild = async (state: Supervising, request: Request & { readonly id: string }): Promise<Outcome> => {
  const entry = state.children.byId(request.id)
  if (entry === undefined) return refused("notFound", request.id)
  if (request._tag === "terminate") {
    await state.end([entry])
    return { ok: undefined }
  }
  if (entry.cell !== undefined) return refused("running", request.id, entry.cell)
  if (entry.restarting) return refused("restarting", request.id)
  if (request._tag === "restart") return again(state, entry)
  state.children.remove(entry)
  return { ok: undefined }
}

/** The restarts that a supervisor allows, and the number it has made. */
export const restartsOf = (window: RestartWindow) => ({
  maxRestarts: window.limit,
  maxSeconds: window.seconds,
  restarts: window.total
})

const handle = (state: Supervising, request: Request): Outcome | Promise<Outcome> => {
  if (request._tag === "which") return { ok: state.children.all.map(infoOf).toReversed() }
  if (request._tag === "count") return { ok: countOf(state.children.all.map(infoOf)) }
  if (request._tag !== "start") return withChild(state, request)
  const wrong = specError(request.spec)
  return wrong === undefined ? add(state, request.spec) : { error: wrong }
}

export const callbacks: Callbacks = {
  kind: "supervisor",
  init: (plan, self) => init(plan as Plan, self),
  handleCall: (request, _from, state) => {
    const outcome = handle(state as Supervising, request as Request)
    return outcome instanceof Promise ? outcome.then((late) => replying(late, state)) : replying(outcome, state)
  },
  handleInfo: (message, state, self) => {
    const supervising = state as Supervising
    if (message instanceof Retry) return following(supervising.retry(message.entry), state)
    if (isExit(message)) return following(supervising.childEnded(message.from, message.reason), state)
    self.kernel.undelivered("unexpected", self, message)
    return noreply(state)
  },
  terminate: (_reason, state) => (state as Supervising).end((state as Supervising).children.all),
  show: (state) => {
    const { strategy, autoShutdown, window, children } = state as Supervising
    return { strategy, autoShutdown, ...restartsOf(window), children: children.all.map(infoOf) }
  }
}
