/**
 * Tools for tests: conformance suites that check whether an adapter, an executor, an encoder or a store keeps the laws of
 * its port.
 *
 * A suite is a list of laws, each a title and a check; any test runner can run them. Test whole chats with the scripted
 * adapter (`Fake`) on a test clock (`Clock.test` of `@troupe/otp`): tools, timeouts and cancels then take no real time, and
 * happen in the same order each time.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Testing } from "@troupe/testing"
 * import { ToolExecutor } from "@troupe/chat/tools"
 *
 * const broken: Array<string> = []
 * for (const { title, check } of Testing.executorLaws(() => ToolExecutor.inProcess)) {
 *   await check().catch(() => broken.push(title))
 * }
 * broken // => []
 * ```
 *
 * @module
 * @source ALLM, the conformance suites of its adapters
 */
import { type FaultOptions, type Faults, Injector } from "./faults/index.ts"
import { Recorder, Replay, type TraceOptions } from "./replay/index.ts"

export { adapterLaws, encoderLaws, executorLaws } from "./ports/index.ts"
export { sessionStoreLaws } from "./stores/index.ts"
export type { Recorder as Trace } from "./replay/index.ts"

/**
 * Injects faults into an adapter, a tool or a store. A fault is planned by name and number of the call, or drawn from a
 * seed.
 *
 * **Units and defaults**: `rates` are by target, then by fault: with `{ tool: { crash: 0.1 } }` one of ten tool calls
 * crashes on average.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) that names the allowed values: for unknown targets, faults and
 * options, call numbers below 1, rates that are not probabilities, and a slow fault without `ms`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Chat, Engine, Fake, tool, user } from "@troupe/chat"
 * import { Testing } from "@troupe/testing"
 * import { runToolCalls } from "@troupe/chat/tools"
 *
 * const faults = Testing.faults({ plan: [{ on: "tool", name: "now", call: 1, fault: { type: "crash" } }] })
 * const now = faults.tool(tool({ name: "now", execute: () => "noon" }))
 * const adapter = Fake.make({
 *   scripts: [[{ toolCall: { id: "c1", name: "now" } }, { finish: "tool_calls" }], [{ text: "Sorry." }, { finish: "stop" }]]
 * })
 * const { thread } = await Chat.run(Engine.make({ adapter, tools: [now] }), [user("Time?")])
 *
 * thread.messages.find(({ role }) => role === "tool")?.content // => '{"error":"handler_raised: the handler of now raised: an injected crash"}'
 * faults.log.map(({ name, call, fault }) => [name, call, fault.type]) // => [["now", 1, "crash"]]
 *
 * const drawn = Testing.faults({ seed: 7, rates: { tool: { crash: 0.1 } } })
 * const calls = Array.from({ length: 100 }, (_, n) => ({ id: `c${n}`, name: "now", arguments: {} }))
 * const { messages } = await runToolCalls(calls, [drawn.tool(tool({ name: "now", execute: () => "noon" }))])
 * messages.filter(({ outcome }) => outcome === "failed").length === drawn.log.length // => true
 * ```
 */
export const faults = (options: FaultOptions = {}): Faults => new Injector(options)

/**
 * Records the inputs and outputs of a run as lines of canonical JSON: the same run has the same trace, byte for byte.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Chat, Engine, Fake, user } from "@troupe/chat"
 * import { Testing } from "@troupe/testing"
 * import { Clock, System } from "@troupe/otp"
 *
 * const run = async () => {
 *   const system = System.make({ clock: Clock.test(), seed: 1 })
 *   const trace = Testing.trace({ system })
 *   const adapter = trace.adapter(Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }))
 *   await trace.read("chat", await Chat.stream(Engine.make({ adapter }), [user("Hello")], { system }))
 *   await System.stop(system)
 *   return trace.text
 * }
 * const [once, twice] = [await run(), await run()]
 * once === twice // => true
 * ```
 */
export const trace = (options?: TraceOptions): Recorder => new Recorder(options)

/**
 * Replays a recorded trace: its adapters, tools and stores give the recorded answers at the recorded times, and the run is
 * recorded again. When a line differs from the recording, the replay fails with both lines.
 *
 * **Details**: the test must do the same as for the recording: the same sends and cancels at the same times, in a system
 * with the same seed.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Chat, Engine, Fake, user } from "@troupe/chat"
 * import { Testing } from "@troupe/testing"
 * import { Clock, System } from "@troupe/otp"
 *
 * const run = async (trace: Testing.Trace, system: System.System, question: string) => {
 *   const adapter = trace.adapter(Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }))
 *   await trace.read("chat", await Chat.stream(Engine.make({ adapter }), [user(question)], { system }))
 * }
 * const system = () => System.make({ clock: Clock.test(), seed: 1 })
 * const first = system()
 * const recorded = Testing.trace({ system: first })
 * await run(recorded, first, "Hello")
 *
 * const second = system()
 * const replay = Testing.replay(recorded.text, { system: second })
 * await run(replay, second, "Hello")
 * replay.check()
 * replay.text === recorded.text // => true
 *
 * const third = system()
 * const other = Testing.replay(recorded.text, { system: third })
 * await run(other, third, "Goodbye").catch(() => undefined)
 * other.mismatch?.line // => 1
 * ```
 */
export const replay = (recorded: string | ReadonlyArray<string>, options?: TraceOptions): Replay =>
  new Replay(recorded, options)
