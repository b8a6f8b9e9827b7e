/**
 * The process at the root of a running application.
 *
 * Owns the application's tree: it starts the top process, gets its exit signal, and calls `prepStop` and `stop`. It does
 * not resolve dependencies between applications; `applicationTable.ts` does.
 *
 * APPM1. The tree ends once, in this order: `prepStop`, the top process by `shutdown` without a time limit, `stop`. If
 *        the top process ended by itself, its children have ended already, and both calls follow.
 * APPM2. An error of `prepStop` or `stop` is reported, and the tree still ends.
 * APPM3. The master ends with the exit reason of its tree, or with the reason of the request to stop.
 */
import { isExit, type Pid } from "../core/index.ts"
import { endChild } from "../process/index.ts"
import { type Cell, ofThrown } from "../kernel/index.ts"
import { startChild } from "../supervisor/index.ts"
import { type Callbacks, ServerResult } from "../server/index.ts"
import type { Definition } from "./definition.ts"

/** The arguments of a master. */
export interface MasterPlan {
  readonly application: Definition
  /** Called when the tree ends by itself, before the application ends. */
  readonly treeEnded: () => void
}

interface Running extends MasterPlan {
  readonly top: Cell | undefined
}

const failing = (reason: unknown): ServerResult => new ServerResult("stop", undefined, undefined, reason, undefined)

const noTree = new Error("an application runs a tree of processes: its start may not answer with ignore")

const init = async (plan: MasterPlan, self: Cell): Promise<ServerResult> => {
  const { application } = plan
  const start = (parent: Pid) => application.start(parent)
  const started = await startChild(self, { id: application.name, start }, (outcome) => outcome)
  if (started._tag === "Failed") return failing(started.reason)
  if (started._tag === "Ignored") return failing(noTree)
  return new ServerResult("ok", { ...plan, top: started.cell }, undefined, undefined, undefined)
}

const call = async (self: Cell, run: (() => unknown) | undefined): Promise<void> => {
  try {
    await run?.()
  } catch (error) {
    self.kernel.report(self, ofThrown(error).reason)
  }
}

const end = async ({ application, top }: Running, self: Cell): Promise<void> => {
  await call(self, () => application.prepStop?.())
  if (top !== undefined && !top.dead) await endChild(self, top, "infinity")
  await call(self, () => application.stop?.())
}

export const masterCallbacks: Callbacks = {
  kind: "application",
  init: (plan, self) => init(plan as MasterPlan, self),
  handleInfo: (message, state, self) => {
    const running = state as Running
    if (isExit(message) && message.from === running.top) {
      running.treeEnded()
      return new ServerResult("stop", { ...running, top: undefined }, undefined, message.reason, undefined)
    }
    if (!isExit(message)) self.kernel.undelivered("unexpected", self, message)
    return undefined
  },
  terminate: (_reason, state, self) => end(state as Running, self),
  show: (state) => ({ application: (state as Running).application.name, top: (state as Running).top })
}
