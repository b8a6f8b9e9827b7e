/**
 * Tools that run where they can be killed.
 *
 * @module
 */
import { ValidationError } from "@troupe/chat/ChatError"
import { type ArgumentsOf, make, type Parameters as Described, type Tool, type ToolContext } from "@troupe/chat/Tool"
import { toolOptions } from "@troupe/chat/Validate"
import { type IsolatedRun, isolatedRun } from "./internal/isolatedRun.ts"
import type { Isolation } from "./internal/place.ts"

/**
 * Where a function runs.
 *
 * - `worker`: in a thread of this program; starts faster, and shares the memory limit
 * - `process`: in a process of the operating system; what it does to itself stays there
 */
export type { Isolation } from "./internal/place.ts"

/**
 * What an isolated function is told beside its arguments.
 *
 * **Details**: as in a tool's own context. `context` has only what can be sent: no functions, no open connections. `signal`
 * is aborted when the call is to end; soon after that the place is killed. There is no `engine`, no `chat` and no
 * `setPermissionMode`, which cannot be sent: reading one throws an error that says so.
 */
export type IsolatedContext = Omit<ToolContext, "engine" | "chat" | "setPermissionMode">

/**
 * The function of a module that an isolated tool runs.
 *
 * **Contract**: returns a value, one of the four outcomes, a promise or an Effect of either, all of which must be data that
 * can be sent (a structured clone). Other calls do not see what it does to its module: each call has a module of its own.
 */
export type IsolatedHandler<A = Record<string, unknown>> = (args: A, context: IsolatedContext) => unknown

/** What a tool is made with, but for what it does. */
type ToolOptions = Omit<Parameters<typeof make>[0], "handler" | "manual" | "parameters" | "key">

/**
 * An isolated tool.
 *
 * **Units and defaults**: `export` is the name of the module's function, default `"default"`. `graceMs` is how long the
 * function may go on after its signal was aborted, in milliseconds; default 100.
 */
export interface IsolatedOptions<P extends Described = Readonly<Record<string, unknown>>> extends ToolOptions {
  readonly parameters?: P | undefined
  readonly key?: ((args: ArgumentsOf<P>) => string | undefined) | undefined
  readonly isolate: Isolation
  /** Whose function is run: a module's URL, as `new URL("./hash.ts", import.meta.url)`. */
  readonly module: URL | string
  readonly export?: string | undefined
  readonly graceMs?: number | undefined
}

/**
 * Makes a tool whose calls each run in a worker thread or a child process of their own, and are killed there when they must
 * end: a busy loop too.
 *
 * **When to use**: for what burns the processor, may never yield, may crash, or must be stopped for real.
 *
 * **Details**: deadlines, cancelling, schedules and policies are those of any tool. A throw is a `handler_raised` error;
 * a place that exited or crashed before it had a result is a `handler_exit`; arguments that cannot
 * be sent are `invalid_arguments`, such a result is `encoding_failed`; either way the call's outcome is `failed`. A call is over
 * when its place is gone.
 *
 * **Errors**: throws a `ValidationError` (`invalid_tool`) as `Tool.make` does, and for options that make no sense.
 *
 * **Gotchas**: each call pays for the start of its place: some 40 ms for a thread, 75 ms for a child process, and what the
 * module takes to load. A child process that never yields outlives a program that is killed.
 *
 * @example
 * ```ts
 * const hash = isolated({
 *   name: "hash",
 *   description: "Hashes a password, which takes a second of processor time",
 *   parameters: z.object({ password: z.string() }),
 *   isolate: "worker",
 *   module: new URL("./hash.ts", import.meta.url),
 *   timeoutMs: 5_000
 * })
 * ```
 */
export const isolated = <const P extends Described = Readonly<Record<string, unknown>>>(
  options: IsolatedOptions<P>
): Tool => {
  check(options)
  const { isolate, module, export: name = "default", graceMs = 100, key, ...described } = options
  const run: IsolatedRun = {
    isolation: isolate,
    module: String(module),
    export: name,
    graceMs,
    writes: described.effect !== "read"
  }
  return make({
    ...described,
    key: key as ((args: Record<string, unknown>) => string | undefined) | undefined,
    handler: (args, context) => isolatedRun(run, args, context)
  })
}

const known = [
  "name",
  "description",
  "parameters",
  "jsonSchema",
  "timeoutMs",
  "idleTimeoutMs",
  "metadata",
  "effect",
  "key",
  "onUnknown",
  "isolate",
  "module",
  "export",
  "graceMs"
] satisfies ReadonlyArray<keyof IsolatedOptions>

const check = (options: unknown): void => {
  if (typeof options !== "object" || options === null) return refuse([], "must_be_an_object of options")
  const unknown = toolOptions(options, known)
  if (unknown !== undefined) throw unknown
  const { isolate, module, export: name, graceMs } = options as Partial<IsolatedOptions>
  if (isolate !== "worker" && isolate !== "process") refuse(["isolate"], "must_be_one_of worker, process")
  if (!URL.canParse(String(module))) refuse(["module"], 'must_be_a_URL, as new URL("./tool.ts", import.meta.url)')
  if (name !== undefined && typeof name !== "string") refuse(["export"], "must_be_the name of an export")
  if (graceMs !== undefined && !(typeof graceMs === "number" && graceMs >= 0 && Number.isFinite(graceMs))) {
    refuse(["graceMs"], "must_be_milliseconds")
  }
}

const refuse = (field: ReadonlyArray<string>, reason: string): never => {
  throw new ValidationError("invalid_tool", [{ field, reason }])
}
