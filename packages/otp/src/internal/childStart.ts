/**
 * One try to start a child.
 *
 * START-CHILD1. A child that is up is linked to its supervisor, also where its start forgot to, or it died meanwhile:
 *               its end always comes to the supervisor as an EXIT.
 */
import type { ChildSpec } from "../ChildSpec.ts"
import { ProcessExit, StartFailed, StartIgnored } from "../OtpError.ts"
import type { ExitReason } from "../ExitReason.ts"
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

export const startChild = async (supervisor: Cell, spec: ChildSpec): Promise<ChildStart> => {
  try {
    const pid = await spec.start(supervisor)
    if (pid === "ignore") return { _tag: "Ignored" }
    const cell = cellOf(pid)
    if (supervisor.dead) {
      return { _tag: "Failed", reason: new ProcessExit({ pid: supervisor, reason: supervisor.reason }) }
    }
    link(supervisor, cell)
    return { _tag: "Up", cell }
  } catch (error) {
    return failedWith(error)
  }
}
