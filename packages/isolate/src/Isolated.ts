/**
 * Tools that run in a thread or a child process that can be killed.
 *
 * @module
 */
import { optionFindings, ValidationError } from "@troupe/chat/errors"
import type { ToolCall } from "@troupe/chat/messages"
import { checkToolOptions, Tool } from "@troupe/chat/tools"
import * as z from "zod"
import { defaultEnvironment } from "./environment.ts"
import { type IsolatedRun, isolatedRun } from "./isolatedRun.ts"
import type { Isolation } from "./place.ts"

/**
 * The place of a function.
 *
 * - `worker`: in a thread of this program; starts faster, and shares the memory limit
 * - `process`: in a process of the operating system; a crash there does not end this program
 */
export type { Isolation } from "./place.ts"

/** The telemetry of isolated tools (`Telemetry.attach(system, "tool_call.message_ignored", …)`). */
declare module "@troupe/otp/telemetry" {
  interface Events {
    /**
     * The place of a call sent a message that its function did not send through its context: `count` such messages of the call
     * so far. They are ignored. A library that calls `process.send` or `parentPort.postMessage` sends them. The message that makes
     * `count` 10,000 ends the call with `handler_exit`.
     */
    readonly "tool_call.message_ignored": {
      readonly measurements: { readonly count: number }
      readonly metadata: { readonly toolCall: ToolCall.ToolCall; readonly sessionId: string | undefined }
    }
  }
}

/**
 * The context of an isolated function.
 *
 * **Details**: as a tool's own context, but `context` has only values that can be sent: no functions, no open connections.
 * `signal` is aborted when the call is to end; soon after that the place is killed. There is no `engine`, no `chat` and no
 * `setPermissionMode`, which cannot be sent: reading one throws an error that explains it.
 */
export type IsolatedContext = Omit<Tool.ToolContext, "engine" | "chat" | "setPermissionMode">

/**
 * The function of a module that an isolated tool runs.
 *
 * **Contract**: returns a value, one of the four outcomes, a promise or an Effect of either. The result must be data that
 * can be sent (a structured clone). Each call has its own instance of the module, so calls do not share module state.
 */
export type IsolatedHandler<A = Record<string, unknown>> = (args: A, context: IsolatedContext) => unknown

/** The options of a tool without its handler. */
type ToolOptions = Omit<Parameters<typeof Tool.make>[0], "handler" | "manual" | "parameters" | "key">

/** An isolated tool. */
export interface IsolatedOptions<P extends Tool.Parameters = Readonly<Record<string, unknown>>> extends ToolOptions {
  /** The schema of the arguments, as for any tool. Default: the tool has no arguments. */
  readonly parameters?: P | undefined
  /** Returns the key of calls that run one after another, as for any tool. Default: no key. */
  readonly key?: ((args: Tool.ArgumentsOf<P>) => string | undefined) | undefined
  /** Where the function runs: in a worker thread or in a child process. */
  readonly isolate: Isolation
  /** The module of the function, as a URL such as `new URL("./hash.ts", import.meta.url)`. */
  readonly module: URL | string
  /** The name of the module's function. Default: `"default"`. */
  readonly export?: string | undefined
  /** How long the function may continue after its signal was aborted, in milliseconds. Default: 100. */
  readonly graceMs?: number | undefined
  /**
   * All environment variables that the function sees. Default: a short list of this program's own, without secrets: `PATH`,
   * `HOME`, `USER`, `LOGNAME`, `SHELL`, `LANG`, `LANGUAGE`, `LC_*`, `TZ`, `TMPDIR`, `TMP`, `TEMP`, `NODE_ENV`, `NODE_OPTIONS`
   * (only flags that load modules or restrict the program), `NODE_COMPILE_CACHE`, and variables to start programs on Windows.
   */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** How large the JavaScript heap may become, in MiB, a whole number. Default: 512. Buffers are not counted. */
  readonly maxMemoryMb?: number | undefined
  /**
   * How many bytes a result or a progress value may have when it is copied, at least 1,024. Default: 4,194,304 (4 MiB). The
   * message of an error is cut to a quarter as many characters, its stack to an eighth.
   */
  readonly maxResultBytes?: number | undefined
}

/**
 * Makes a tool whose calls each run in their own worker thread or child process. A call that must end is killed there, even
 * in a busy loop.
 *
 * **When to use**: for handlers that use much processor time, may never yield, may crash, or must really stop.
 *
 * **Details**: deadlines, cancelling, schedules and policies are those of any tool. A throw is a `handler_raised` error. A
 * place that exited or crashed before it had a result is a `handler_exit`. Arguments that cannot be sent are
 * `invalid_arguments`, such a result is `encoding_failed`; either way the call's outcome is `failed`. A call is over when
 * its place is gone.
 *
 * **Errors**: throws a `ValidationError` (`invalid_tool`) as `Tool.make` does, and for invalid options.
 *
 * **Concurrency**: a child process and the programs it started are one process group. The group is killed when the child ends,
 * when this program exits, and, by the child, when this program was killed. `System.stop` waits for places, and kills them after
 * 5 seconds.
 *
 * **Gotchas**: each call pays for the start of its place: about 40 ms for a thread, 85 ms for a child process, and the
 * module's loading time. A program that starts a session or a process group of its own outlives the child that started it;
 * so do all such programs on Windows. A thread shares the memory of this program: neither `env` nor the nonce of a call
 * protects from code in it that reads memory. The size of messages that code in a thread sends by `parentPort.postMessage`
 * has no limit.
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
export const isolated = <const P extends Tool.Parameters = Readonly<Record<string, unknown>>>(
  options: IsolatedOptions<P>
): Tool.Tool => {
  check(options)
  const { isolate, module, export: name = "default", graceMs = 100, key, ...rest } = options
  const { env, maxMemoryMb = 512, maxResultBytes = 4 * 1_024 * 1_024, ...described } = rest
  const run: IsolatedRun = {
    isolation: isolate,
    module: String(module),
    export: name,
    graceMs,
    maxMemoryMb,
    maxResultBytes,
    env: () => env ?? defaultEnvironment(),
    writes: described.effect !== "read"
  }
  return Tool.make({
    ...described,
    key: key as ((args: Record<string, unknown>) => string | undefined) | undefined,
    handler: (args, context) => isolatedRun(run, args, context)
  })
}

const count = (least: number, reason: string): z.ZodType =>
  z
    .int(reason)
    .min(least, reason)
    .max(2 ** 31, reason)
    .optional()

const isEnvironment = (env: unknown): boolean =>
  typeof env === "object" && env !== null && Object.values(env).every((value) => typeof value === "string")

/** The options that a tool does not have. */
const types = z.object(
  {
    isolate: z.enum(["worker", "process"], "must_be_one_of worker, process"),
    module: z.custom((value) => URL.canParse(String(value)), 'must_be_a_URL, as new URL("./tool.ts", import.meta.url)'),
    export: z.string("must_be_the name of an export").optional(),
    graceMs: z.number("must_be_milliseconds").nonnegative("must_be_milliseconds").optional(),
    env: z.custom(isEnvironment, "must_be_an_object of strings").optional(),
    maxMemoryMb: count(16, "must_be_a whole number of MiB, at least 16"),
    maxResultBytes: count(1_024, "must_be_a whole number of bytes, at least 1024")
  } satisfies { readonly [Name in Exclude<keyof IsolatedOptions, ToolOption>]-?: z.ZodType },
  "must_be_an_object of options"
)

const ofTool = [
  "name",
  "description",
  "parameters",
  "jsonSchema",
  "timeoutMs",
  "idleTimeoutMs",
  "metadata",
  "effect",
  "key",
  "needsApproval",
  "onUnknown",
  "background",
  "deferred",
  "provider"
] as const satisfies ReadonlyArray<keyof IsolatedOptions>

type ToolOption = (typeof ofTool)[number]

const names = [...ofTool, ...Object.keys(types.shape)]

/** Throws a `ValidationError` (`invalid_tool`) that names all unknown options, or else the first invalid value. */
const check = (options: unknown): void => {
  const unknown = typeof options === "object" && options !== null ? checkToolOptions(options, names) : undefined
  if (unknown !== undefined) throw unknown
  const [first] = optionFindings(types, options)
  if (first !== undefined) throw new ValidationError("invalid_tool", [first])
}
