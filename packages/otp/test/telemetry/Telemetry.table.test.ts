import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { GenServer, Process, Supervisor, System, Telemetry } from "../../src/index.ts"
import { selected } from "../../src/telemetry/Events.ts"
import { bank } from "../double/bank.ts"
import { hop } from "../double/hop.ts"
import { Crew } from "../double/worker.ts"

/** The keys of one event: of its measurements and of its metadata. */
interface Row {
  readonly measurements: ReadonlyArray<string>
  readonly metadata: ReadonlyArray<string>
}

const namesIn = (cell: string): ReadonlyArray<string> =>
  [...cell.matchAll(/`([a-z]\w*)`/g)].map(([, name = ""]) => name)

/** The table of the module's doc comment. `process` among the metadata stands for the process the event is about. */
const documented = (): Record<string, Row> => {
  const text = readFileSync(new URL("../../src/telemetry/Telemetry.ts", import.meta.url), "utf8")
  const rows = text.split("\n").filter((line) => line.startsWith(" * | `"))
  return Object.fromEntries(
    rows.map((line) => {
      const [name = "", , measurements = "", metadata = ""] = line
        .slice(4)
        .split("|")
        .map((cell) => cell.trim())
      const about = metadata.startsWith("process") ? ["pid", "label", "kind"] : []
      return [
        name.replaceAll("`", ""),
        { measurements: namesIn(measurements).toSorted(), metadata: [...about, ...namesIn(metadata)].toSorted() }
      ]
    })
  )
}

/** Makes a system emit each of its events once at least, and records their data. */
const emitted = async (): Promise<Record<string, Row>> => {
  const system = System.make({ blockedAfter: 0 })
  const rows: Record<string, Row> = {}
  const callUser = (event: Telemetry.Event): void => {
    const row = {
      measurements: Object.keys(event.measurements).toSorted(),
      metadata: Object.keys(event.metadata).toSorted()
    }
    expect(rows[event.name] ?? row).toEqual(row)
    rows[event.name] = row
    for (const value of Object.values(event.measurements)) expect(value).toBeTypeOf("number")
  }
  Telemetry.attach(system, "*", callUser)
  Telemetry.attach(system, "process.spawn", () => {
    throw new Error("handler")
  })
  const crew = new Crew()
  await Supervisor.start(system, { children: [crew.spec("a")], maxRestarts: 1 })
  for (let crash = 0; crash < 2; crash++) {
    crew.stop("a", "boom")
    await hop()
  }
  const pid = await GenServer.start(system, bank(), undefined)
  await GenServer.call(pid, "get")
  const deaf = GenServer.make<void, null, never, never, never, unknown>({ init: () => GenServer.ok(null) })
  Process.send(await GenServer.start(system, deaf, undefined), "unexpected")
  await hop()
  Process.kill(pid)
  Process.send<unknown>(pid, "dead")
  await System.stop(system)
  return rows
}

test("the table of the module names every event, and each one's measurements and metadata", async () => {
  const table = documented()
  expect(Object.keys(table)).toEqual(selected("*"))
  expect(await emitted()).toEqual(table)
})
