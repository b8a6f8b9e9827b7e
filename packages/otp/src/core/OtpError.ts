/**
 * The errors that a call of this package can fail with.
 *
 * Each error is tagged, its fields are data, and its message says what to do next. A process that ends has an exit
 * reason instead, see `ExitReason.ts`.
 */
import * as Effect from "effect/Effect"
import { format } from "./ExitReason.ts"
import type { ExitReason } from "./ExitReason.ts"
import { TaggedError } from "./nodeInspect.ts"
import type { Pid } from "./Pid.ts"
import { summary } from "./valueSummary.ts"

const isStop = (request: string): boolean => request.endsWith(".stop")

/** What a process does in place of a request to itself. */
const insteadOf = (request: string): string =>
  isStop(request)
    ? "return GenServer.stopping from the callback, or let another process stop it"
    : "call the function that handles the request"

/**
 * A request to another process that got no reply.
 *
 * **Details**
 *
 * `reason` is `"timeout"`, `"noproc"`, `"calling_self"` or the exit reason of the other process. `in` names the request,
 * such as `"GenServer.call"`.
 *
 * **Gotchas**
 *
 * After a timeout the other process still handles the request. Its effects remain; only its reply is discarded.
 */
export class CallExit extends TaggedError("CallExit")<{
  readonly reason: ExitReason
  readonly in: string
}> {
  override get message(): string {
    if (this.reason === "timeout" && isStop(this.in))
      return `${this.in} saw no end in time: allow more time, or kill it`
    if (this.reason === "timeout") return `${this.in} got no answer in time: allow more time, or answer from a task`
    if (this.reason === "noproc") return `${this.in} found no living process: start it, or look its name up again`
    if (this.reason === "calling_self") return `${this.in} on itself would wait for ever: ${insteadOf(this.in)}`
    return `${this.in} got no answer, the process ended: ${format(this.reason)}`
  }
}

/** A process that could not be started; `reason` is the exit reason of its start. */
export class StartFailed extends TaggedError("StartFailed")<{ readonly reason: ExitReason }> {
  override get message(): string {
    if (this.reason === "timeout") return "the process did not start in time: allow more, or do less in init"
    return `the process did not start: ${format(this.reason)}; start it again once that is mended`
  }
}

/** A process whose `init` returned `ignore`. */
export class StartIgnored extends TaggedError("StartIgnored") {
  override get message(): string {
    return "the process chose not to run: its init returned ignore"
  }
}

/** The reason of a start under the name of another living process. */
export class AlreadyStarted extends TaggedError("AlreadyStarted")<{ readonly pid: Pid }> {
  override get message(): string {
    return `the name is taken by ${this.pid}: use that process, or choose another name`
  }
}

/** A refused registration: the name is taken, or the process is dead or already has a name. */
export class NameTaken extends TaggedError("NameTaken")<{ readonly name: string; readonly pid: Pid | undefined }> {
  override get message(): string {
    return this.pid === undefined
      ? `"${this.name}" cannot be given to a process that is dead or has a name: unregister that first`
      : `"${this.name}" is taken by ${this.pid}: choose another name, or end that process first`
  }
}

/** A message to a name that is not registered. */
export class UnknownName extends TaggedError("UnknownName")<{ readonly name: string }> {
  override get message(): string {
    return `nobody is registered as "${this.name}": start that process first, or send to a pid`
  }
}

/** A link to a dead process, from a process that does not trap exits. */
export class NoProcess extends TaggedError("NoProcess")<{ readonly pid: Pid }> {
  override get message(): string {
    return `${this.pid} is dead: trap exits to get its EXIT instead of this error`
  }
}

/** A spawn in a stopped system. */
export class SystemStopped extends TaggedError("SystemStopped")<{ readonly name: string }> {
  override get message(): string {
    return `the system "${this.name}" is stopped: make a new one`
  }
}

/** An invalid option or part of a child spec; `allowed` describes the valid values. */
export class InvalidOption extends TaggedError("InvalidOption")<{
  readonly option: string
  readonly value: unknown
  readonly allowed: string
}> {
  override get message(): string {
    return `${this.option} is ${shown(this.value)}: make it ${this.allowed}`
  }
}

const shown = (value: unknown): string => (typeof value === "string" ? `"${value}"` : format(value))

/** A link to a process of another system. Links work only within one system. */
export class OtherSystem extends TaggedError("OtherSystem")<{ readonly pid: Pid; readonly system: string }> {
  override get message(): string {
    return `${this.pid.label} ${this.pid} is not of the system "${this.system}": monitor it, or start it there`
  }
}

/**
 * A supervisor request to a process that is not a supervisor, to a supervisor of another kind, or to a value that is neither a
 * process nor an address.
 *
 * **Details**: for a supervisor of another kind, `kind` is what it is, and `required` is whose function was called.
 */
export class NotASupervisor extends TaggedError("NotASupervisor")<{
  readonly pid: Pid
  readonly kind?: string
  readonly required?: string
}> {
  override get message(): string {
    const { kind, required } = this
    if (kind !== undefined && required !== undefined) {
      return `${summary(this.pid)} is a ${kind}, not a ${required}: call the function of ${kind}, or start a ${required}`
    }
    return `${summary(this.pid)} is no supervisor: pass what the start of one resolved with, or its address`
  }
}

/** The reason of a server whose callback returned an invalid result; `expected` describes a valid one, if no constructor makes it. */
export class BadReturnValue extends TaggedError("BadReturnValue")<{
  readonly value: unknown
  readonly expected?: string
}> {
  override get message(): string {
    const expected = this.expected ?? "what GenServer.ok, replying, noreply or stopping make"
    return `a callback returned ${format(this.value)}: return ${expected}`
  }
}

/** The reason of a server that got a call or cast for which it has no callback. */
export class NoCallback extends TaggedError("NoCallback")<{
  readonly callback: string
  readonly request: unknown
}> {
  override get message(): string {
    return `no ${this.callback} for ${shown(this.request)}: define it, or do not send that`
  }
}

/**
 * A request that a supervisor refuses.
 *
 * **Details**
 *
 * - `"running"`, `"restarting"`: the child must be stopped first.
 * - `"notFound"`: there is no such child.
 * - `"alreadyStarted"`, `"alreadyPresent"`: the id belongs to a running child, which is `pid`, or to a stopped child.
 * - `"maxChildren"`: the limit on children is reached.
 * - `"duplicateId"`: two specs of one supervisor have this id.
 * - `"significantUnheeded"`: the child is significant, and the supervisor's `autoShutdown` is `"never"`.
 * - `"significantPermanent"`: the child is significant, and would always be restarted.
 */
export class ChildRefused extends TaggedError("ChildRefused")<{
  readonly reason:
    | "running"
    | "restarting"
    | "notFound"
    | "alreadyPresent"
    | "alreadyStarted"
    | "maxChildren"
    | "duplicateId"
    | "significantUnheeded"
    | "significantPermanent"
  readonly id: string
  readonly pid: Pid | undefined
}> {
  override get message(): string {
    return `the supervisor refuses this for child "${this.id}": ${advice[this.reason]}`
  }
}

const advice: Readonly<Record<ChildRefused["reason"], string>> = {
  running: "it is running: terminate it first",
  restarting: "it is being restarted: terminate it first, or wait",
  notFound: "there is no such child: see whichChildren for those there are",
  alreadyPresent: "its id is taken by a stopped child: restart that, or delete it first",
  alreadyStarted: "its id is taken by a running child: use that, or another id",
  maxChildren: "there are as many as maxChildren allows: end one first, or allow more",
  duplicateId: "two specs have this id: give each its own",
  significantUnheeded: 'it is significant, but autoShutdown is "never": set that, or make it not significant',
  significantPermanent: 'it is significant, but restart is "permanent": make it "transient" or "temporary"'
}

/** The value of a supervisor's shutdown when a child did not start. */
export class FailedToStartChild extends TaggedError("FailedToStartChild")<{
  readonly id: string
  readonly reason: ExitReason
}> {
  override get message(): string {
    return `child "${this.id}" did not start: ${format(this.reason)}; mend that, or have its start answer "ignore"`
  }
}

/** The reason in the crash report of a supervisor that exceeded its restart limit and ends with its children. */
export class RestartLimit extends TaggedError("RestartLimit")<{ readonly id: string; readonly limit: number }> {
  override get message(): string {
    return `child "${this.id}" had to be restarted once more than the ${this.limit} times allowed: see why it ends, or allow more`
  }
}

/** The abnormal end of the process behind a machine's actor. */
export class ProcessExit extends TaggedError("ProcessExit")<{
  readonly pid: Pid
  readonly reason: ExitReason
}> {
  override get message(): string {
    return `${this.pid.label} ${this.pid} ended: ${format(this.reason)}`
  }
}

/** A task awaited by a process that did not start it. Only the owner gets the reply. */
export class NotTheOwner extends TaggedError("NotTheOwner")<{ readonly owner: Pid }> {
  override get message(): string {
    return `the task belongs to ${this.owner}: await it there`
  }
}

/** A request of `Sys` to a process that does not support it: a function, not a server, machine or supervisor. */
export class NoSystemMessages extends TaggedError("NoSystemMessages")<{ readonly pid: Pid }> {
  override get message(): string {
    return `${this.pid.label} ${this.pid} takes no requests of Sys: trace it, or make it a server or a machine`
  }
}

/** A request to replace a state that is not the user's, such as a supervisor's. */
export class StateFixed extends TaggedError("StateFixed")<{ readonly pid: Pid; readonly kind: string }> {
  override get message(): string {
    return `the state of the ${this.kind} ${this.pid} is not replaced: change it by its own functions`
  }
}

/** The start of an application that is running or starting. */
export class ApplicationAlreadyStarted extends TaggedError("ApplicationAlreadyStarted")<{
  readonly name: string
}> {
  override get message(): string {
    return `the application "${this.name}" runs already in this system: stop it first, or use it`
  }
}

/** An application that is not running, but must be: to stop it, or because another application depends on it. */
export class ApplicationNotStarted extends TaggedError("ApplicationNotStarted")<{ readonly name: string }> {
  override get message(): string {
    return `the application "${this.name}" does not run: start it first, or use ensureAllStarted`
  }
}

/** The start of applications that depend on each other in a circle; `names` lists the circle once. */
export class ApplicationCycle extends TaggedError("ApplicationCycle")<{ readonly names: ReadonlyArray<string> }> {
  override get message(): string {
    return `the applications ${this.names.join(" → ")} depend on each other in a circle: take one out of a dependsOn`
  }
}

/** Any error of this package with which a promise is rejected. */
export type OtpError =
  | CallExit
  | StartFailed
  | StartIgnored
  | AlreadyStarted
  | NameTaken
  | UnknownName
  | NoProcess
  | SystemStopped
  | BadReturnValue
  | NoCallback
  | ChildRefused
  | FailedToStartChild
  | RestartLimit
  | ProcessExit
  | NotTheOwner
  | NoSystemMessages
  | StateFixed
  | ApplicationAlreadyStarted
  | ApplicationNotStarted
  | ApplicationCycle
  | InvalidOption
  | OtherSystem
  | NotASupervisor

const classes = [
  CallExit,
  StartFailed,
  StartIgnored,
  AlreadyStarted,
  NameTaken,
  UnknownName,
  NoProcess,
  SystemStopped,
  BadReturnValue,
  NoCallback,
  ChildRefused,
  FailedToStartChild,
  RestartLimit,
  ProcessExit,
  NotTheOwner,
  NoSystemMessages,
  StateFixed,
  ApplicationAlreadyStarted,
  ApplicationNotStarted,
  ApplicationCycle,
  InvalidOption,
  OtherSystem,
  NotASupervisor
]

const isOtpError = (error: unknown): error is OtpError => classes.some((kind) => error instanceof kind)

/**
 * Turns a promise of this package into an effect with typed errors.
 *
 * **When to use**
 *
 * For functions without a variant that ends in `Effect`: `OtpError.effect(() => Supervisor.startChild(top, spec))`.
 *
 * **Details**
 *
 * Errors of this package become failures, which `Effect.catchTag` can match. Any other error becomes a defect.
 *
 * **Concurrency**
 *
 * Interruption ends the wait only: the request itself is not cancelled.
 *
 * @example
 * ```ts import.meta.vitest
 * import { OtpError, Supervisor, System } from "@troupe/otp"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const top = yield* Supervisor.scoped({ children: [] })
 *   return yield* OtpError.effect(() => Supervisor.deleteChild(top, String("nobody")))
 * }).pipe(Effect.catchTag("ChildRefused", (error) => Effect.succeed(error.reason)))
 * await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(System.layer()))) // => "notFound"
 * ```
 */
export const effect = <A>(run: () => Promise<A>): Effect.Effect<A, OtpError> =>
  Effect.callback((resume) => {
    new Promise<A>((resolve) => resolve(run())).then(
      (value) => resume(Effect.succeed(value)),
      (error: unknown) => resume(isOtpError(error) ? Effect.fail(error) : Effect.die(error))
    )
  })
