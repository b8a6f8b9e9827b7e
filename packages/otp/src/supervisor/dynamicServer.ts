/**
 * The callbacks of a dynamic supervisor's process.
 *
 * Owns its children by process, so that finding one takes constant time.
 *
 * DYN1. A child is in `running`, in `restarting`, or removed. A child that is not restarted is removed completely.
 * DYN2. At the end all children get their exit signal at once; none waits for a sibling.
 * DYN3. A child whose restart is retried is found by its last process, and can be terminated.
 */
import {
  type ChildSpec,
  type ExitReason,
  InvalidOption,
  isAbnormal,
  isExit,
  type Pid,
  restartOf,
  shutdownOf,
  StartFailed,
  StartIgnored,
  typeOf
} from "../core/index.ts"
import { endChild } from "../process/index.ts"
import { Cell, CellMap, deliver } from "../kernel/index.ts"
import { idOf, startChild, type StartedSpec } from "./childStart.ts"
import { checkAmount, specError } from "./optionRules.ts"
import { RestartWindow } from "./restartWindow.ts"
import { type Callbacks, ServerResult } from "../server/index.ts"
import { mayRestart } from "./childRestarts.ts"
import type { Verdict } from "./childRestarts.ts"
import { checkWindow, countOf, following, noreply, refused, replying, restartsOf } from "./supervisorServer.ts"
import type { ChildInfo, Outcome } from "./supervisorServer.ts"

/** The start options of a dynamic supervisor, with defaults. */
export interface DynamicPlan {
  readonly maxRestarts: number
  readonly maxSeconds: number
  readonly maxChildren: number
  readonly extraArguments: ReadonlyArray<unknown>
}

/** The spec that a dynamic supervisor receives: its `start` takes the supervisor's extra arguments too. */
export interface ExtendedSpec extends Omit<StartedSpec, "start"> {
  readonly start: (parent: Pid, ...extra: never) => ReturnType<ChildSpec["start"]>
}

/** A request to a dynamic supervisor. */
export type DynamicRequest =
  | { readonly _tag: "which" }
  | { readonly _tag: "count" }
  | { readonly _tag: "start"; readonly spec: ExtendedSpec }
  | { readonly _tag: "terminate"; readonly pid: Pid }

/** The supervisor's message to itself: retry the restart of the child that this process was. */
class DynamicRetry {
  readonly cell: Cell
  constructor(cell: Cell) {
    this.cell = cell
  }
}

export class Dynamic {
  readonly self: Cell
  readonly window: RestartWindow
  readonly maxChildren: number
  readonly extra: ReadonlyArray<unknown>
  readonly running = new CellMap<Cell, StartedSpec>()
  /** By the last process of each child. */
  readonly restarting = new Map<Cell, StartedSpec>()

  constructor(self: Cell, plan: DynamicPlan) {
    this.self = self
    this.maxChildren = plan.maxChildren
    this.extra = plan.extraArguments
    this.window = new RestartWindow(plan.maxRestarts, plan.maxSeconds)
  }

  /** Starts a child, and returns the result of `then`. */
  add<A>(extended: ExtendedSpec, then: (outcome: Outcome) => A): A | Promise<A> {
    const spec = this.#closed(extended)
    if (this.running.size + this.restarting.size >= this.maxChildren) return then(refused("maxChildren", idOf(spec)))
    return startChild(this.self, spec, (started) => {
      if (started._tag === "Ignored") return then({ error: new StartIgnored() })
      if (started._tag === "Failed") return then({ error: new StartFailed({ reason: started.reason }) })
      this.running.set(started.cell, spec)
      return then({ ok: started.cell })
    })
  }

  #closed(spec: ExtendedSpec): StartedSpec {
    if (this.extra.length === 0) return spec as StartedSpec
    const start = spec.start as (parent: Pid, ...extra: ReadonlyArray<unknown>) => ReturnType<ChildSpec["start"]>
    return { ...spec, start: (parent) => start(parent, ...this.extra) }
  }

  async terminate(cell: Pid): Promise<Outcome> {
    if (!(cell instanceof Cell)) return refused("notFound", "")
    if (this.restarting.delete(cell)) return { ok: undefined }
    const spec = this.running.get(cell)
    if (spec === undefined) return refused("notFound", cell.label, cell)
    await endChild(this.self, cell, shutdownOf(spec))
    this.running.delete(cell)
    return { ok: undefined }
  }

  childEnded(cell: unknown, reason: ExitReason): Verdict | Promise<Verdict> {
    if (!(cell instanceof Cell)) return "goOn"
    const spec = this.running.get(cell)
    if (spec === undefined) return "goOn"
    this.running.delete(cell)
    const restart = restartOf(spec)
    if (restart === "temporary" || (restart === "transient" && !isAbnormal(reason))) return "goOn"
    return this.#restart(cell, spec)
  }

  /** Retries a failed restart, unless the child was removed meanwhile. */
  retry(cell: Cell): Verdict | Promise<Verdict> {
    const spec = this.restarting.get(cell)
    this.restarting.delete(cell)
    return spec === undefined ? "goOn" : this.#restart(cell, spec)
  }

  #restart(cell: Cell, spec: StartedSpec): Verdict | Promise<Verdict> {
    if (!mayRestart(this.self, this.window, idOf(spec))) return "giveUp"
    return startChild(this.self, spec, (started): Verdict => {
      if (started._tag === "Up") this.running.set(started.cell, spec)
      if (started._tag === "Failed") {
        this.restarting.set(cell, spec)
        deliver(this.self, new DynamicRetry(cell))
      }
      return "goOn"
    })
  }

  async endAll(): Promise<void> {
    await Promise.all(this.running.entries.map(([cell, spec]) => endChild(this.self, cell, shutdownOf(spec))))
  }

  get infos(): ReadonlyArray<ChildInfo> {
    const running = this.running.entries.map(([cell, spec]) => ({ id: idOf(spec), pid: cell, type: typeOf(spec) }))
    const restarting = [...this.restarting.values()].map((spec) => ({
      id: idOf(spec),
      pid: "restarting" as const,
      type: typeOf(spec)
    }))
    return [...running, ...restarting]
  }
}

const significantError = ({ significant }: Pick<ChildSpec, "significant">): InvalidOption | undefined => {
  if (significant !== true) return undefined
  return new InvalidOption({ option: "significant", value: significant, allowed: "false in a dynamic supervisor" })
}

const handle = <A>(state: Dynamic, request: DynamicRequest, then: (outcome: Outcome) => A): A | Promise<A> => {
  if (request._tag === "which") return then({ ok: state.infos })
  if (request._tag === "count") return then({ ok: countOf(state.infos) })
  if (request._tag !== "start") return state.terminate(request.pid).then(then)
  const wrong = specError(request.spec, false) ?? significantError(request.spec)
  return wrong === undefined ? state.add(request.spec, then) : then({ error: wrong })
}

export const dynamicCallbacks: Callbacks = {
  kind: "supervisor",
  init: (plan, self) => {
    checkWindow(plan as DynamicPlan)
    checkAmount("maxChildren", (plan as DynamicPlan).maxChildren)
    return new ServerResult("ok", new Dynamic(self, plan as DynamicPlan), undefined, undefined, undefined)
  },
  handleCall: (request, _from, state) =>
    handle(state as Dynamic, request as DynamicRequest, (outcome) => replying(outcome, state)),
  handleInfo: (message, state, self) => {
    const dynamic = state as Dynamic
    if (message instanceof DynamicRetry) return following(dynamic.retry(message.cell), state)
    if (isExit(message)) return following(dynamic.childEnded(message.from, message.reason), state)
    self.kernel.undelivered("unexpected", self, message)
    return noreply(state)
  },
  terminate: (_reason, state) => (state as Dynamic).endAll(),
  show: (state) => {
    const { maxChildren, window, infos } = state as Dynamic
    return { maxChildren, ...restartsOf(window), children: infos }
  }
}
