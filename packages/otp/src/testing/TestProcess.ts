/**
 * The process of a test.
 *
 * Owns: a system, unless the test has one; the pid of the test; a supervisor of the processes that the test starts.
 *
 * TESTP1. `expect` takes the first message that matches, and leaves the others. `refute` takes none.
 * TESTP2. On a test clock, a wait advances the time, timer by timer, by at most `within`.
 * TESTP3. The processes of `start` end in reverse start order, before the process of the test and its system. Those that
 *         hang are killed.
 */
import {
  attempt,
  type ChildSpec,
  type ExitReason,
  isDown,
  isExit,
  type Pid,
  type Rules,
  StartFailed,
  StartIgnored,
  summary,
  TaggedError,
  type Timeout
} from "../core/index.ts"
import { cellOf } from "../kernel/index.ts"
import * as Process from "../process/Process.ts"
import * as Supervisor from "../supervisor/Supervisor.ts"
import * as System from "../system/System.ts"
import * as Clock from "../time/Clock.ts"
import { equalValues } from "./equalValues.ts"

/** A message that did not arrive in time; `mailbox` has the first messages that did. */
export class NotReceived extends TaggedError("NotReceived")<{
  readonly expected: string
  readonly mailbox: ReadonlyArray<string>
}> {
  override get message(): string {
    const arrived = this.mailbox.length === 0 ? "no message" : this.mailbox.join(", ")
    return `${this.expected} did not arrive in time: allow more time, or see why; the mailbox has ${arrived}`
  }
}

/** A message that arrived, against `refute`. */
export class UnexpectedMessage extends TaggedError("UnexpectedMessage")<{ readonly received: unknown }> {
  override get message(): string {
    return `${summary(this.received)} arrived: no such message was expected`
  }
}

/** What a test has already. */
export interface Options {
  /** The system of the processes under test; it is not stopped. Default: a new one with a test clock, which ends with the test. */
  readonly system?: System.System
}

/** How long a wait of a test lasts. */
export interface WaitOptions {
  /** The longest time, on the system's clock. With 0, only messages that have arrived count. Default: 100 milliseconds. */
  readonly within?: Timeout
}

const isTestClock = (clock: Clock.Clock): clock is Clock.TestClock => "advance" in clock

/** Kills a process and all that were started below it, also those that trap exits. */
const killTree = (top: Pid): void => {
  const below = new Set([cellOf(top)])
  for (const cell of cellOf(top).kernel.processes.all)
    if (cell.parent !== undefined && below.has(cell.parent)) below.add(cell)
  for (const cell of [...below].toReversed()) Process.kill(cell)
}

/** A test for messages: a function, or a value that they equal. */
const testOf = (match: unknown): ((message: unknown) => boolean) =>
  typeof match === "function"
    ? (match as (message: unknown) => boolean)
    : (message) => attempt(() => equalValues(match, message)) === true

/**
 * A process that stands for a test: it has a pid, takes messages, and ends with the test.
 *
 * **When to use**
 *
 * To check what processes send, how they end, and when; and to start processes that must not outlive the test.
 *
 * **Details**
 *
 * It traps exits. On a test clock a wait advances the time itself, so a test of a timer takes no time. A call does not advance it: for a
 * reply that comes after a time, pass a system with a clock of your own, and advance that.
 *
 * @example
 * ```ts import.meta.vitest
 * import { GenServer, Process, Timer } from "@troupe/otp"
 * import { TestProcess } from "@troupe/otp/testing"
 *
 * const bell = GenServer.make({
 *   init: (listener: Process.Process<"ring">) => {
 *     Timer.sendAfter(listener, "ring", 60)
 *     return GenServer.ok(listener)
 *   }
 * })
 *
 * await using me = new TestProcess()
 * const pid = await me.start((parent) => GenServer.startLink(parent, bell, me.pid))
 * await me.refute("ring", { within: 50 })
 * await me.expect("ring") // => "ring"
 * Process.kill(pid)
 * await me.down(pid) // => "noproc"
 * ```
 *
 * **Source**
 *
 * Elixir's `ExUnit.Assertions` and `ExUnit.Callbacks`.
 */
export class TestProcess {
  /** Where the processes under test run. Its clock is a test clock, unless the test has a system with another. */
  readonly system: System.System
  /** The pid of the test: pass it to the processes under test. */
  readonly pid: Process.Process<unknown>
  readonly #owned: boolean
  #supervisor: Promise<Supervisor.Supervisor> | undefined
  #started = 0

  constructor({ system }: Options = {}) {
    this.#owned = system === undefined
    this.system = system ?? System.make({ clock: Clock.test(), name: "test" })
    this.pid = Process.spawn(this.system, () => new Promise(() => {}), { label: "test" })
    Process.trapExit(this.pid, true)
  }

  /**
   * Waits for a message, and takes it out of the mailbox: the first that equals a value, or for which a function returns true.
   *
   * **Details**
   *
   * Arrays, plain objects, dates, maps, sets and errors are equal when their contents are; other instances only to themselves.
   *
   * **Errors**: rejects with `NotReceived`.
   */
  expect<A>(match: ((message: unknown) => message is A) | A, options?: WaitOptions): Promise<A>
  /** Waits for a message for which a function returns true. */
  expect(match: (message: unknown) => boolean, options?: WaitOptions): Promise<unknown>
  /** The form of both. */
  async expect(match: unknown, options?: WaitOptions): Promise<unknown> {
    const found = await this.#take(testOf(match), options)
    if (found !== undefined) return found.message
    throw this.#lacks(typeof match === "function" ? "a message that matches" : summary(match))
  }

  /**
   * Waits, and checks that no such message arrives.
   *
   * **Errors**: rejects with `UnexpectedMessage`.
   */
  async refute(match: unknown, options?: WaitOptions): Promise<void> {
    const found = await this.#take(testOf(match), options)
    if (found !== undefined) throw new UnexpectedMessage({ received: found.message })
  }

  /** Waits for the end of a process; resolves with its exit reason, `noproc` if it was dead. Rejects with `NotReceived`. */
  async down(pid: Pid, options?: WaitOptions): Promise<ExitReason> {
    const ref = Process.monitor(this.pid, pid)
    const found = await this.#take((message) => isDown(message) && message.ref === ref, options)
    if (isDown(found?.message)) return found.message.reason
    Process.demonitor(ref)
    throw this.#lacks(`the end of ${summary(pid)}`)
  }

  /** Waits for an exit signal of a process, from a link or sent; resolves with its reason. Rejects with `NotReceived`. */
  async exit(pid: Pid, options?: WaitOptions): Promise<ExitReason> {
    const found = await this.#take((message) => isExit(message) && message.from === pid, options)
    if (isExit(found?.message)) return found.message.reason
    throw this.#lacks(`an exit signal of ${summary(pid)}`)
  }

  /**
   * Starts a process under the supervisor of the test.
   *
   * **Details**
   *
   * It is restarted by the rules, like any child, without a limit. A link to the test is made by `Process.link`.
   *
   * **Errors**
   *
   * Rejects with `StartFailed`, also when the start returned `"ignore"`.
   */
  async start<P extends Pid>(begin: ChildSpec<string, P>["start"], rules?: Rules): Promise<P> {
    this.#checkRuns()
    this.#supervisor ??= Supervisor.start(this.system, {
      label: "test supervisor",
      children: [],
      maxRestarts: Number.POSITIVE_INFINITY
    })
    const spec: ChildSpec<string, P> = { id: String(this.#started++), start: begin, ...rules }
    const started = await this.#settled(Supervisor.startChild(await this.#supervisor, spec))
    if (started === undefined) throw new StartFailed({ reason: new StartIgnored() })
    return started
  }

  /** Lets so many milliseconds pass on the system's clock. */
  async advance(ms: number): Promise<void> {
    const { clock } = this.system
    if (isTestClock(clock)) return clock.advance(ms)
    return new Promise((resolve) => void clock.setTimeout(resolve, ms))
  }

  /** Ends the processes of `start`, the process of the test, and its own system. */
  async [Symbol.asyncDispose](): Promise<void> {
    const supervisor = await this.#supervisor?.catch(() => undefined)
    if (supervisor !== undefined && Process.isAlive(supervisor)) {
      // A stop that hangs, for example on a child in its init, must not hide why the test failed.
      await this.#settled(Supervisor.stop(supervisor)).catch(() => killTree(supervisor))
    }
    Process.kill(this.pid)
    if (this.#owned) await System.stop(this.system)
  }

  async #take(
    match: (message: unknown) => boolean,
    options: WaitOptions | undefined
  ): Promise<{ readonly message: unknown } | undefined> {
    this.#checkRuns()
    let found: { readonly message: unknown } | undefined
    const isMatch = (message: unknown): boolean => {
      const isFound = match(message)
      if (isFound) found = { message }
      return isFound
    }
    await this.#settled(Process.receive(this.pid, { match: isMatch, timeout: options?.within ?? 100 }))
    return found
  }

  /** Waits for work, and advances a test clock meanwhile. */
  #settled<A>(work: Promise<A>): Promise<A> {
    const { clock } = this.system
    return isTestClock(clock) ? clock.run(work) : work
  }

  #checkRuns(): void {
    if (!Process.isAlive(this.pid)) throw new Error("The process of the test has ended: use it before its disposal")
  }

  #lacks(expected: string): NotReceived {
    const mailbox = cellOf(this.pid).mailbox?.first(10).map(summary) ?? []
    return new NotReceived({ expected, mailbox })
  }
}
