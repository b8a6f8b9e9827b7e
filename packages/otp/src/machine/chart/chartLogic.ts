/**
 * XState machines, run from a plan.
 *
 * CHART1. A plain machine behaves as under XState's own interpreter: the same states, contexts, actions and children, in the
 *         same order. Its snapshots are XState's.
 * CHART2. Any other logic is returned unchanged.
 */
import type { ActorLogic, AnyActorLogic, EventObject, Snapshot } from "xstate"
import type { ChartSnapshot, Scope } from "./xstateMachine.ts"
import { ChartPlan } from "./chartPlan.ts"
import { Macrostep } from "./macrostep.ts"

const logics = new WeakMap<AnyActorLogic, AnyActorLogic>()

/** The same logic, run from a plan if it has one. */
export const planned = (logic: AnyActorLogic): AnyActorLogic => {
  const known = logics.get(logic)
  if (known !== undefined) return known
  const plan = ChartPlan.of(logic)
  const made = plan === undefined ? logic : chartLogic(plan)
  logics.set(logic, made)
  logics.set(made, made)
  return made
}

const chartLogic = (plan: ChartPlan): AnyActorLogic => {
  const { machine } = plan
  const logic: ActorLogic<Snapshot<unknown>, EventObject, unknown> = {
    config: machine.config,
    getInitialSnapshot: (scope, input) => {
      const event = { type: "xstate.init", input }
      return new Macrostep(plan, scope as Scope, planned, undefined, event).begin(input) as unknown as Snapshot<unknown>
    },
    transition: (snapshot, event, scope) =>
      new Macrostep(
        plan,
        scope as Scope,
        planned,
        snapshot as unknown as ChartSnapshot,
        event
      ).run() as unknown as Snapshot<unknown>,
    start: (snapshot) => machine.start(snapshot as unknown as ChartSnapshot),
    getPersistedSnapshot: (snapshot, options) =>
      machine.getPersistedSnapshot(snapshot as unknown as ChartSnapshot, options)
  }
  return logic
}
