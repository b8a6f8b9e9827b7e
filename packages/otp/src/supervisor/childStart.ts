/**
 * One attempt to start a child.
 *
 * START-KIDS1. A child that is up is linked to its supervisor, even if its start did not link it or it has died meanwhile.
 *               The supervisor always gets its end as an EXIT.
 * START-KIDS2. A child that is up only after its supervisor died is ended by its shutdown rule.
 */
import {
  type ChildSpec,
  type ExitReason,
  format,
  type Pid,
  ProcessExit,
  shutdownOf,
  StartFailed,
  StartIgnored
} from "../core/index.ts"
import { endChild, link } from "../process/index.ts"
import { Cell, ofThrown } from "../kernel/index.ts"

/** A spec of any supervisor; a child of a dynamic one may have no id. */
export type StartedSpec = Omit<ChildSpec, "id"> & Partial<Pick<ChildSpec, "id">>

/** The id of a spec in reports. */
export const idOf = (spec: StartedSpec): string => spec.id ?? "undefined"

/** The result of a start: a process, none because it was ignored, or a failure. */
export type ChildStart =
  | { readonly _tag: "Up"; readonly cell: Cell }
  | { readonly _tag: "Ignored" }
  | { readonly _tag: "Failed"; readonly reason: ExitReason }

const failedWith = (error: unknown): ChildStart => {
  if (error instanceof StartIgnored) return { _tag: "Ignored" }
  return { _tag: "Failed", reason: error instanceof StartFailed ? error.reason : ofThrown(error).reason }
}

const noProcess = (id: string, answer: unknown): TypeError =>
  new TypeError(`the start of child "${id}" answered ${format(answer)}: answer the pid it started, or "ignore"`)

const upIn = (supervisor: Cell, spec: StartedSpec, pid: Pid | "ignore"): ChildStart => {
  if (pid === "ignore") return { _tag: "Ignored" }
  if (!(pid instanceof Cell)) return failedWith(noProcess(idOf(spec), pid))
  if (supervisor.dead) {
    void endChild(pid.kernel.root, pid, shutdownOf(spec))
    return failedWith(new ProcessExit({ pid: supervisor, reason: supervisor.reason }))
  }
  try {
    link(supervisor, pid)
    return { _tag: "Up", cell: pid }
  } catch (error) {
    return failedWith(error)
  }
}

const isLater = (started: Pid | "ignore" | Promise<Pid | "ignore">): started is Promise<Pid | "ignore"> =>
  typeof started === "object" && started !== null && "then" in started

/** Starts a child; returns the result of `then`, synchronously if the start is synchronous. */
export const startChild = <A>(
  supervisor: Cell,
  spec: StartedSpec,
  then: (started: ChildStart) => A
): A | Promise<A> => {
  let pid: Pid | "ignore" | Promise<Pid | "ignore">
  try {
    pid = spec.start(supervisor)
  } catch (error) {
    return then(failedWith(error))
  }
  if (!isLater(pid)) return then(upIn(supervisor, spec, pid))
  return Promise.resolve(pid).then(
    (late) => then(upIn(supervisor, spec, late)),
    (error: unknown) => then(failedWith(error))
  )
}
