import { Effect, Layer, Logger } from "effect"
import { afterEach, expect, test, vi } from "vitest"
import { Clock, GenServer, Process, Supervisor, System, Telemetry, type CrashReport } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { Crew } from "../double/worker.ts"

/** The lines on the console while a program runs. */
const printed = (): Array<string> => {
  const lines: Array<string> = []
  vi.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line))
  return lines
}

afterEach(() => void vi.restoreAllMocks())

/** A system whose reports are collected. */
const logged = (options: System.Options = {}) => {
  const reports: Array<System.Report> = []
  const clock = Clock.test()
  const system = System.make({ clock, logger: (report) => void reports.push(report), ...options })
  return { clock, system, reports, lines: () => reports.map(({ message }) => message) }
}

const crash = (system: System.System, error: unknown = new Error("boom"), label = "worker") =>
  Process.spawn(
    system,
    () => {
      throw error
    },
    { label }
  )

test("REPORT1 a crash prints one line, with the place in the user's code and the causes", async () => {
  const lines = printed()
  const system = System.make()
  const pid = crash(system, new Error("no stock", { cause: new TypeError("row is\nundefined") }))
  await hop()
  expect(lines).toEqual([
    expect.stringMatching(
      /^\[error\] Process worker <0\.\d+\.0> crashed: Error: no stock \(at .*systemLog\.test\.ts:\d+:\d+\)?\), caused by TypeError: row is undefined \(at .*systemLog\.test\.ts:\d+:\d+\)?\)$/
    )
  ])
  expect(lines[0]).toContain(String(pid))
  await System.stop(system)
  expect(lines).toHaveLength(1)
})

test("REPORT1 the place is the user's line also when the engine or this package throws", async () => {
  const { system, lines } = logged()
  const dead = Process.spawn(system, () => {})
  await hop()
  for (const run of [() => JSON.parse("{oops"), () => GenServer.call(dead as never, "next" as never)]) {
    Process.spawn(system, () => run())
  }
  await hop()
  const place = expect.stringMatching(/\(at .*systemLog\.test\.ts:\d+:\d+\)?\)$/)
  expect(lines()).toEqual([place, place])
  await System.stop(system)
})

test("REPORT1 the end of a supervisor at its limit is one line that names the child", async () => {
  const { system, lines } = logged()
  const crew = new Crew()
  await Supervisor.start(system, { children: [crew.spec("a")], maxRestarts: 0, label: "top" })
  crew.stop("a", "broken")
  await hop()
  expect(lines()).toEqual([
    expect.stringMatching(/^Process a <0\.\d+\.0> crashed: broken, handling cast \{ stop: "broken" \}, state null$/),
    expect.stringMatching(/^Process top <0\.\d+\.0> crashed: RestartLimit: child "a" had to be restarted once more/)
  ])
  await System.stop(system)
})

test("REPORT1 a fault that a process survives is a line: a notice of an exit, and a telemetry handler that is detached", async () => {
  const { system, lines } = logged()
  Process.onExit(
    Process.spawn(system, () => Promise.resolve()),
    () => {
      throw new RangeError("late")
    }
  )
  await hop()
  Telemetry.attach(system, "process.spawn", () => {
    throw new Error("deaf")
  })
  Process.spawn(system, () => Promise.resolve())
  await hop()
  expect(lines()).toEqual([
    expect.stringMatching(/^Process system <0\.0\.0> reports: RangeError: late/),
    expect.stringMatching(/^Process system <0\.0\.0> reports: Error: deaf/)
  ])
  await System.stop(system)
})

test.each(["normal", "shutdown", { _tag: "Shutdown", value: 1 }])(
  "REPORT1 the expected end %j is no line",
  async (reason) => {
    const { system, reports } = logged()
    Process.spawn(system, () => Process.exitSelf(reason))
    Process.kill(Process.spawn(system, () => new Promise(() => {})))
    await hop()
    await System.stop(system)
    expect(reports).toEqual([])
  }
)

test("REPORT8 a message that no callback takes is a line, without its content for a sensitive process", async () => {
  const { system, lines, reports } = logged()
  const till = GenServer.make({ label: "till", init: () => GenServer.ok(0) })
  const pid = await GenServer.start(system, till, undefined)
  Process.send<never>(pid, { paid: 5 } as never)
  await hop()
  Process.flag(pid, "sensitive", true)
  Process.send<never>(pid, { paid: 6 } as never)
  await hop()
  const line = `till ${pid} got an unexpected message: `
  expect(lines()).toEqual([`${line}{ paid: 5 }`, `${line}(sensitive)`])
  expect(reports[0]?.attributes).toEqual({ process: "till", pid: String(pid), kind: "server" })
  await System.stop(system)
})

test("REPORT1 the stop of a server with an unexpected reason is a line, as its own stop is", async () => {
  const { system, lines } = logged()
  const shop = GenServer.make({ label: "shop", init: () => GenServer.ok(3) })
  for (const reason of ["normal", "shutdown", "weird"]) {
    await GenServer.stop(await GenServer.start(system, shop, undefined), reason)
  }
  expect(lines()).toEqual([
    expect.stringMatching(/^Process shop <0\.\d+\.0> crashed: weird, handling the request to stop, weird, state 3$/)
  ])
  await System.stop(system)
})

test("REPORT1 with onCrash, with a telemetry handler beside it, or silent, there is no line", async () => {
  const lines = printed()
  const reports: Array<CrashReport.CrashReport> = []
  const systems = [
    System.make({ onCrash: (report) => void reports.push(report) }),
    System.make({ onCrash: (report) => void reports.push(report) }),
    System.make({ silent: true })
  ] as const
  Telemetry.attach(systems[1], "process.crash", () => {})
  Telemetry.attach(systems[2], "process.crash", () => {})
  for (const system of systems) crash(system)
  await hop()
  expect([lines, reports.length]).toEqual([[], 2])
  for (const system of systems) await System.stop(system)
})

test("REPORT1 a telemetry handler alone takes no line away", async () => {
  const { system, reports } = logged()
  const seen: Array<unknown> = []
  Telemetry.attach(system, "process.crash", (event) => void seen.push(event.metadata.report))
  crash(system)
  await hop()
  expect(reports.map((report) => report.crash)).toEqual(seen)
  await System.stop(system)
})

test("REPORT1 the report of an onCrash that throws is not lost", async () => {
  const { system, lines } = logged({
    onCrash: () => {
      throw new Error("no disk")
    }
  })
  crash(system)
  await hop()
  expect(lines()).toEqual([
    expect.stringMatching(/^onCrash failed with the report "worker <0\.\d+\.0> ended: Error: boom": Error: no disk \(/)
  ])
  await System.stop(system)
})

test("REPORT2 of 151 crashes in 10 seconds 20 are lines, and one line says how many are not", async () => {
  const { system, clock, lines, reports } = logged()
  for (let count = 0; count < 151; count++) crash(system, new Error(`boom ${count}`))
  await hop()
  expect(lines().map((line) => /boom \d+/.exec(line)?.[0])).toEqual(Array.from({ length: 20 }, (_, at) => `boom ${at}`))
  await clock.advance(9_999)
  expect(reports).toHaveLength(20)
  await clock.advance(1)
  expect(reports.at(-1)).toEqual({
    message: "… 131 more reports in 10 s",
    error: undefined,
    at: 10_000,
    attributes: { omitted: 131 }
  })
  crash(system, new Error("again"))
  await hop()
  expect(lines().at(-1)).toContain("again")
  await System.stop(system)
  expect(reports).toHaveLength(22)
})

test("REPORT2 a system that stops writes the number before its ten seconds are over, and leaves no timer", async () => {
  const { system, clock, lines } = logged()
  for (let count = 0; count < 21; count++) crash(system)
  await hop()
  await System.stop(system)
  expect([lines().at(-1), clock.pending]).toEqual(["… 1 more report in 10 s", 0])
  await clock.advance(10_000)
  expect(lines()).toHaveLength(21)
})

test("REPORT2 the state of a process is not read for a report that is not written", async () => {
  const { system } = logged()
  let reads = 0
  const shop = GenServer.make<void, { readonly stock: number }, never, unknown, "break">({
    init: () =>
      GenServer.ok({
        get stock() {
          return ++reads
        }
      }),
    handleCast: () => {
      throw new Error("broken")
    }
  })
  for (let count = 0; count < 50; count++) GenServer.cast(await GenServer.start(system, shop, undefined), "break")
  await hop()
  expect(reads).toBe(20)
  await System.stop(system)
})

test("REPORT3 whatever is thrown, the line is one line of at most 600 characters", async () => {
  const { system, lines } = logged()
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const circular = new Error("round")
  circular.cause = circular
  const odd = [
    new Error("a\nb\r\n\u001b[31mred\u0007\u2028end"),
    "x".repeat(10_000),
    revoked.proxy,
    circular,
    undefined,
    {
      toJSON: () => {
        throw new Error("no")
      }
    },
    Object.assign(new Error("stackless"), { stack: 5 })
  ]
  for (const error of odd) crash(system, error)
  await hop()
  expect(lines()).toHaveLength(odd.length)
  for (const line of lines()) {
    expect(line).toMatch(/^[^\p{Cc}\u2028\u2029]{1,600}$/u)
  }
  expect(lines()[0]).toContain("Error: a b [31mred end")
  await System.stop(system)
})

test("REPORT3 of a logger that throws, the report and the error are on the console", async () => {
  const lines = printed()
  const { system } = logged({
    logger: () => {
      throw new Error("no disk")
    }
  })
  crash(system)
  await hop()
  expect(lines).toEqual([
    expect.stringMatching(/^\[error\] Process worker .*boom/),
    expect.stringMatching(/^\[error\] The logger of the system threw: Error: no disk/)
  ])
  await System.stop(system)
})

test("REPORT3 a console that throws ends nothing", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {
    throw new Error("closed")
  })
  const system = System.make()
  crash(system)
  await hop()
  expect(System.stats(system).processes).toBe(0)
  await System.stop(system)
})

test("REPORT4 in a layer, reports go to the loggers of the fiber, with their attributes and their error", async () => {
  const records: Array<unknown> = []
  const logger = Logger.make(({ message, logLevel, cause }) => {
    records.push({ message, logLevel, reasons: cause.reasons.length })
  })
  const program = Effect.gen(function* () {
    crash(yield* System.System)
    yield* Effect.promise(hop)
  })
  const loggers = Logger.layer([logger])
  await Effect.runPromise(program.pipe(Effect.provide(Layer.provide(System.layer(), loggers))))
  expect(records).toEqual([
    { message: [expect.stringMatching(/^Process worker .* crashed: Error: boom/)], logLevel: "Error", reasons: 1 }
  ])
})

test("REPORT4 a program without Effect code passes the loggers of a runtime", async () => {
  const records: Array<unknown> = []
  const loggers = Logger.layer([Logger.map(Logger.formatStructured, (record) => void records.push(record))])
  const logger = await Effect.runPromise(System.effectLogger.pipe(Effect.provide(loggers)))
  const system = System.make({ logger })
  System.report(system, { subject: "The backup failed", error: "disk full", attributes: { id: "b1" } })
  expect(records).toMatchObject([{ level: "ERROR", annotations: { id: "b1" } }])
  await System.stop(system)
})

test("REPORT1 the line of a server that crashed has the message and the state, shortened", async () => {
  const { system, lines } = logged()
  const shop = GenServer.make({
    label: "shop",
    init: (sold: string) => GenServer.ok({ sold }),
    handleCast: (_order: { readonly item: string }): GenServer.NoReply<{ readonly sold: string }> => {
      throw new Error("no stock")
    }
  })
  for (const sold of ["pens", "pens ".repeat(200)]) {
    GenServer.cast(await GenServer.start(system, shop, sold), { item: "pen" })
  }
  await hop()
  const start = /^Process shop <0\.\d+\.0> crashed: Error: no stock \(at .*systemLog\.test\.ts:\d+:\d+\)?\)/
  expect(lines()).toEqual([
    expect.stringMatching(
      new RegExp(`${start.source}, handling cast \\{ item: "pen" \\}, state \\{ sold: "pens" \\}$`)
    ),
    expect.stringMatching(new RegExp(`${start.source}, handling cast \\{ item: "pen" \\}, state .{119}…$`))
  ])
  await System.stop(system)
})
