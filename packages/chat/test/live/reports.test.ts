import * as OtelLogger from "@effect/opentelemetry/OtelLogger"
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs"
import { GenServer, Observer, type Pid, Process, Sys, System } from "@troupe/otp"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, test, vi } from "vitest"
import * as ChatEffect from "../../src/troupe/ChatEffect.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import type * as Store from "../../src/store/Store.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, says } from "../double/scripts.ts"
import { memory, type SavingStore } from "../double/savingStore.ts"

const check = leakCheck()

const throws = (): never => {
  throw new Error("mine")
}

/** A Troupe and its reports. */
const reported = async (options: Partial<TroupeOptions> = {}) => {
  const reports: Array<System.Report> = []
  const { troupe, clock } = await check.troupe({
    adapter: check.fake({ script: says("Hi.") }),
    logger: (report) => void reports.push(report),
    ...options
  })
  return { troupe, clock, reports, lines: () => reports.map(({ message }) => message) }
}

/** A memory store of which some functions fail. */
const failing = (fails: {
  readonly [Name in keyof SavingStore]?: (id: string) => unknown
}): Store.SessionStore => Object.assign(memory(), fails) as Store.SessionStore

test.each([
  ["throws", throws],
  ["rejects", () => Promise.reject(new Error("mine"))]
])("STORE10 a save that %s is one report, with the chat and the cause", async (_how, save) => {
  let saves = 0
  const { troupe, reports, lines } = await reported({ store: failing({ save: (id) => (++saves === 1 ? save() : id) }) })
  const chat = await troupe.chat("c1")
  expect((await chat.send("Hello").result()).haltedReason).toBe("error")
  expect(lines()).toEqual([expect.stringMatching(/^The store failed at append of the chat c1: Error: mine \(at /)])
  expect(reports[0]?.attributes).toEqual({ operation: "append", chat: "c1" })
})

test("STORE10 a save without an answer is one report, when the next operation no longer waits for it", async () => {
  const { troupe, clock, lines } = await reported({ store: failing({ save: () => new Promise(() => {}) }) })
  const chat = await troupe.chat("c1")
  const turn = chat.send("Hello", { id: "hello" })
  const ended = turn.result()
  await clock.advance(5_000)
  expect((await ended).haltedReason).toBe("error")
  expect(lines()).toEqual(["The store failed at append of the chat c1: no answer for 5000 ms"])
})

test("STORE10 a store that refuses, and one whose entry another program wrote, are no report", async () => {
  const store = memory()
  const { troupe, reports } = await reported({ store })
  const chat = await troupe.chat("c1")
  await chat.send("Hello").result()
  await expect(troupe.rewind("c1", 99)).rejects.toMatchObject({ reason: "unknown_commit" })
  await expect(troupe.fork("nobody", { id: "d" })).rejects.toMatchObject({ reason: "unknown_chat" })
  expect(reports).toEqual([])
})

test("STORE10 a draft that is not stored, and a list, are reports", async () => {
  const store = failing({ keepDraft: throws, list: throws })
  const { troupe, clock, lines } = await reported({
    store,
    adapter: check.fake({ script: [{ text: "Once" }, { delayMs: 3_000 }, { text: " upon" }, { finish: "stop" }] })
  })
  const chat = await troupe.chat("c1")
  await clock.run(chat.send("Hello").result())
  await expect(troupe.list()).rejects.toMatchObject({ reason: "store_failed" })
  expect(lines()).toEqual([
    expect.stringContaining("The store failed at keepDraft of the chat c1: Error: mine"),
    expect.stringContaining("The store failed at list: Error: mine")
  ])
})

test("REPORT5 a failure of a function that nothing waits for is a report, and the turn goes on", async () => {
  const { troupe, lines } = await reported({
    hooks: { SessionStart: [throws], Stop: [() => Promise.reject(new Error("mine"))] },
    tracing: { tracer: { span: throws }, record: throws }
  })
  const chat = await troupe.chat("c1")
  const subscription = chat.subscribe({ next: throws })
  const { haltedReason } = await chat.send("Hello").result()
  subscription.unsubscribe()
  expect(haltedReason).toBe("completed")
  const subjects = new Set(lines().map((line) => line.slice(0, line.indexOf(":"))))
  for (const line of lines()) expect(line).toContain(": Error: mine (at ")
  expect(subjects).toEqual(
    new Set([
      "A SessionStart hook failed",
      "A Stop hook failed",
      "An observer of a chat failed",
      "The meter of `tracing` failed",
      "The tracer of `tracing` failed"
    ])
  )
})

test("REPORT5 an expected end is no report: a cancelled turn, a failed tool, a refused input, a failed model", async () => {
  const { troupe, reports } = await reported({
    adapter: check.fake({
      scripts: [calls("bad"), says("So."), [{ text: "Once" }, { hang: true }], [{ error: new Error("no model") }]]
    }),
    tools: [handling("bad", throws)],
    retry: false
  })
  const chat = await troupe.chat("c1")
  await chat.send("Use it").result()
  await expect((async () => chat.send(5 as never))()).rejects.toMatchObject({ _tag: "ValidationError" })
  const turn = chat.send("Tell")
  await until(() => chat.getSnapshot()?.context.partial.text === "Once")
  await chat.cancel()
  await turn.result()
  await chat.send("Once more").result()
  expect(reports).toEqual([])
})

test.each([{}, { inspect: () => {} }])(
  "REPORT7 a crash of a process of a chat prints no text of the conversation: options %o",
  async (options) => {
    let isRunning = false
    const lines: Array<string> = []
    const { troupe, system } = await check.troupe({
      adapter: check.fake({ scripts: [calls(["look", { at: "SECRET arguments" }])] }),
      tools: [
        handling("look", (_args, { signal }) => {
          isRunning = true
          return new Promise((_resolve, reject) => signal.addEventListener("abort", reject))
        })
      ],
      logger: ({ message }) => void lines.push(message),
      ...options
    })
    const chat = await troupe.chat("c1")
    const ended = chat.send("SECRET question").result()
    void ended.catch(() => {})
    await until(() => isRunning)
    const pids = Array.from(System.processes(system))
    for (const pid of pids) expect(JSON.stringify(Observer.inspect(pid))).not.toContain("SECRET")
    const running = pids.find(({ label }) => label === "Chat c1") as Pid<object>
    expect(Observer.inspect(running)?.state).toBe('{ chat: "c1", state: { running: "phaseB" } }')

    await Sys.replaceState<{ readonly context: object }>(running, (state) => ({
      ...state,
      context: { ...state.context, inbox: undefined }
    }))
    Process.send(running, { type: "turn.start", turn: { id: "t2", messages: ["SECRET message"] } })
    await ended.catch(() => {})
    const store = pids.find(({ label }) => label === "Store") as GenServer.Server<object>
    await Sys.replaceState<object>(store, (state) => ({ ...state, busy: { size: 0 } }))
    const accept = { type: "accept", id: "c1", input: "SECRET input" }
    await expect(GenServer.call(store, accept)).rejects.toMatchObject({ _tag: "CallExit" })
    expect(lines).toEqual([
      expect.stringMatching(/handling "turn\.start", state \{ chat: "c1", state: \{ running: "phaseB" \} \}$/),
      expect.stringMatching(/handling \{ type: "accept", chat: "c1" \}, state \{ busy: 0 \}$/)
    ])
  }
)

test("REPORT6 a Troupe without a system passes its logger on, and prints without one", async () => {
  const lines: Array<unknown> = []
  vi.spyOn(console, "error").mockImplementation((line) => void lines.push(line))
  try {
    const options = [{}, { silent: true }, { logger: ({ message }: System.Report) => void lines.push(message) }]
    for (const option of options) {
      let saves = 0
      const store = failing({ save: () => (++saves === 1 ? throws() : undefined) })
      const troupe = await Troupe.start({ adapter: check.fake({ script: says("Hi.") }), store, ...option })
      const chat = await troupe.chat("c1")
      expect((await chat.send("Hello").result()).haltedReason).toBe("error")
      await troupe.stop()
    }
  } finally {
    vi.restoreAllMocks()
  }
  expect(lines).toEqual([
    expect.stringMatching(/^\[error\] The store failed at append of the chat c1: Error: mine/),
    expect.stringMatching(/^The store failed at append of the chat c1: Error: mine/)
  ])
})

test("REPORT6 an option of the system beside `system` is refused, and says where it belongs", async () => {
  const { system } = check.system()
  const options = { adapter: check.fake({ script: says("Hi.") }), system, onCrash: () => {}, silent: true }
  await expect(Troupe.start(options)).rejects.toMatchObject({
    _tag: "ValidationError",
    errors: [
      { field: ["onCrash"], reason: "is an option of the system: write System.make({ onCrash })" },
      { field: ["silent"], reason: "is an option of the system: write System.make({ silent })" }
    ]
  })
})

test("REPORT4 the reports of a Troupe's layer are log records of OpenTelemetry", async () => {
  const exporter = new InMemoryLogRecordExporter()
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] })
  const otel = Layer.provide(
    OtelLogger.layer({ mergeWithExisting: false }),
    Layer.succeed(OtelLogger.OtelLoggerProvider, provider)
  )
  let saves = 0
  const troupe = ChatEffect.layer({
    adapter: check.fake({ script: says("Hi.") }),
    store: failing({ save: () => (++saves === 1 ? throws() : undefined) })
  })
  const program = Effect.gen(function* () {
    const running = yield* ChatEffect.TroupeService
    const opened = yield* Effect.promise(() => running.chat("c1"))
    return yield* Effect.exit(ChatEffect.call(() => opened.send("Hello").result()))
  })
  await Effect.runPromise(program.pipe(Effect.provide(Layer.provide(troupe, otel))))
  expect(exporter.getFinishedLogRecords().map(({ body, severityText }) => [severityText, body])).toEqual([
    ["Error", expect.stringContaining("The store failed at append of the chat c1")]
  ])
  await provider.shutdown()
})
