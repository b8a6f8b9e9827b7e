/**
 * One request to several servers.
 *
 * MULTI1. Each server gets one call, which has one outcome: a reply or a failure. All outcomes are returned together, when
 *         the last one is known, in the order of the servers.
 */
import type { CallExit, Pid, Target } from "../core/index.ts"
import { cellOf } from "../kernel/index.ts"
import { CallMessage, cellAt, PendingCall } from "../process/index.ts"

/** The outcome of the calls: the servers that replied, and those that did not. */
export interface CallsOutcome<T, Reply> {
  readonly replies: ReadonlyArray<{ readonly target: T; readonly reply: Reply }>
  readonly failures: ReadonlyArray<{ readonly target: T; readonly error: CallExit }>
}

type One<Reply> = { readonly reply: Reply } | { readonly error: CallExit }

const gather = <T, Reply>(
  targets: ReadonlyArray<T>,
  outcomes: ReadonlyArray<One<Reply> | undefined>
): CallsOutcome<T, Reply> => {
  const replies: Array<{ readonly target: T; readonly reply: Reply }> = []
  const failures: Array<{ readonly target: T; readonly error: CallExit }> = []
  for (const [index, target] of targets.entries()) {
    const outcome = outcomes[index]
    if (outcome === undefined) continue
    if ("error" in outcome) failures.push({ target, ...outcome })
    else replies.push({ target, ...outcome })
  }
  return { replies, failures }
}

/** Calls the servers, all at once; returns a function that cancels the calls. */
export const callAll = <T extends Target, Reply>(
  targets: ReadonlyArray<T>,
  request: unknown,
  from: Pid | undefined,
  ms: number,
  done: (outcome: CallsOutcome<T, Reply>) => void
): (() => void) => {
  const outcomes = Array.from<One<Reply> | undefined>({ length: targets.length })
  let open = targets.length
  const settle = (index: number, outcome: One<Reply>): void => {
    outcomes[index] = outcome
    open--
    if (open === 0) done(gather(targets, outcomes))
  }
  if (open === 0) done(gather(targets, outcomes))
  const calls = targets.map((target, index) => {
    const server = cellAt(target)
    const caller = from === undefined ? server?.kernel.current : cellOf(from)
    const call = new PendingCall(
      { server, caller, ms, in: "GenServer.multiCall" },
      (reply) => settle(index, { reply: reply as Reply }),
      (error) => settle(index, { error })
    )
    call.begin(new CallMessage(request, call))
    return call
  })
  return () => {
    for (const call of calls) call.close()
  }
}
