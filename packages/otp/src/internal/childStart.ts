/**
 * One try to start a child.
 *
 * START-CHILD1. A child that is up is linked to its supervisor, also where its start forgot to, or it died meanwhile:
 *               its end always comes to the supervisor as an EXIT.
 */
import type { ChildSpec } from "../ChildSpec.ts"
import { ProcessExit, StartFailed, StartIgnored } from "../OtpError.ts"
import type { ExitReason } from "../ExitReason.ts"
import type { Pid } from "../Pid.ts"
import { link } from "../Process.ts"
import { cellOf } from "./cell.ts"
import type { Cell } from "./cell.ts"
import { ofThrown } from "./failure.ts"

/** How a start went: a process, none by choice, or a reason. */
export type ChildStart =
  | { readonly _tag: "Up"; readonly cell: Cell }
  | { readonly _tag: "Ignored" }
  | { readonly _tag: "Failed"; readonly reason: ExitReason }

const failedWith = (error: unknown): ChildStart => {
  if (error instanceof StartIgnored) return { _tag: "Ignored" }
  return { _tag: "Failed", reason: error instanceof StartFailed ? error.reason : ofThrown(error).reason }
}

const upIn = (supervisor: Cell, pid: Pid | "ignore"): ChildStart => {
  if (pid === "ignore") return { _tag: "Ignored" }
  try {
    const cell = cellOf(pid)
    if (supervisor.dead) return failedWith(new ProcessExit({ pid: supervisor, reason: supervisor.reason }))
    link(supervisor, cell)
    return { _tag: "Up", cell }
  } catch (error) {
    return failedWith(error)
  }
}

const isLater = (started: Pid | "ignore" | Promise<Pid | "ignore">): started is Promise<Pid | "ignore"> =>
  typeof started === "object" && started !== null && "then" in started

/** Starts a child; answers what `then` makes of how it went, at once if the start answers at once. */
export const startChild = <A>(supervisor: Cell, spec: ChildSpec, then: (started: ChildStart) => A): A | Promise<A> => {
  let pid: Pid | "ignore" | Promise<Pid | "ignore">
  try {
    pid = spec.start(supervisor)
  } catch (error) {
    return then(failedWith(error))
  }
  if (!isLater(pid)) return then(upIn(supervisor, pid))
  return Promise.resolve(pid).then(
    (late) => then(upIn(supervisor, late)),
    (error: unknown) => then(failedWith(error))
  )
}
