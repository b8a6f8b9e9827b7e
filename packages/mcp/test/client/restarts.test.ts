import { InMemoryTransport } from "@modelcontextprotocol/client"
import { Clock, Observer, type Pid, Process, Supervisor, System } from "@troupe/otp"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { askingServer } from "../double/askingServer.ts"
import { call } from "../double/call.ts"

let clock: Clock.TestClock
let system: System.System

beforeEach(() => {
  clock = Clock.test()
  system = System.make({ clock, silent: true })
})
afterEach(() => System.stop(system))

const pidOf = ({ pid }: Mcp.McpServer): Pid => {
  if (pid === undefined) throw new Error("the server has no process")
  return pid
}

test.each([
  [
    { uri: "http://127.0.0.1:1/mcp" },
    "server: must_be { command, args }, { url }, or { transport: () => one of the MCP SDK }"
  ],
  [undefined, "server: must_be { command, args }, { url }, or { transport: () => one of the MCP SDK }"],
  ["http://127.0.0.1:1/mcp", 'server: must_be an object; write { url: "http://127.0.0.1:1/mcp" }'],
  [{ url: "search" }, "server.url: must_be an address, such as https://search.example.com/mcp"]
])("what is no server is refused with the form to write: %j", async (server, message) => {
  const failure = { reason: "invalid_options", message: expect.stringContaining(message) }
  await expect(Mcp.start(system, server as never)).rejects.toMatchObject(failure)
  await expect(Mcp.connect(server as never)).rejects.toMatchObject(failure)
})

test("a start without a system is refused with the call to write", async () => {
  await expect(Mcp.start({ url: "http://127.0.0.1:1/mcp" } as never, undefined as never)).rejects.toMatchObject({
    reason: "invalid_options",
    message: expect.stringContaining("write Mcp.start(System.make(), server)")
  })
})

/** A server that can be killed, and refuses starts while it is down. */
const fragile = () => {
  let isDown = false
  let starts = 0
  let theirs: InMemoryTransport | undefined
  const transport = (): InMemoryTransport => {
    starts += 1
    if (isDown) throw new Error("the server is down")
    const [ours, other] = InMemoryTransport.createLinkedPair()
    theirs = other
    void askingServer().connect(other)
    return ours
  }
  const setDown = (down: boolean): void => {
    isDown = down
    if (down) void theirs?.close()
  }
  return { server: { transport }, setDown, starts: () => starts, kill: () => theirs?.close() }
}

test("MCPH2. a lost connection is opened again after a wait that doubles, and the health says so", async () => {
  const { server, setDown, starts } = fragile()
  const mcp = await Mcp.start(system, server, { name: "fragile" })
  const other = await Mcp.start(system, fragile().server)
  expect(mcp.health).toEqual({ status: "connected", failedStarts: 0 })
  setDown(true)
  await expect.poll(() => mcp.health).toMatchObject({ status: "waiting", failedStarts: 1 })
  expect(Observer.inspect(pidOf(mcp))?.state).toContain("waiting")
  expect(await call(mcp, "work")).toMatchObject({ type: "error", reason: expect.stringContaining("fragile") as string })
  // MCPH3
  expect(await call(other, "work")).toMatchObject({ type: "ok" })
  await clock.advance(500)
  await expect.poll(() => mcp.health.failedStarts).toBe(2)
  await clock.advance(999)
  expect(starts()).toBe(2)
  await clock.advance(1)
  await expect.poll(() => mcp.health.failedStarts).toBe(3)
  setDown(false)
  await clock.advance(2_000)
  await expect.poll(() => mcp.health.status).toBe("connected")
  expect(await call(mcp, "work")).toMatchObject({ type: "ok" })
})

test("MCPH2. after its last start the process ends with the error, and its calls fail", async () => {
  const { server, setDown, starts } = fragile()
  const mcp = await Mcp.start(system, server, { restarts: { maxStarts: 3 } })
  const ended = new Promise((resolve) => void Process.onExit(pidOf(mcp), resolve))
  setDown(true)
  await expect.poll(() => mcp.health.failedStarts).toBe(1)
  await clock.advance(500)
  await expect.poll(() => mcp.health.failedStarts).toBe(2)
  await clock.advance(1_000)
  expect(await ended).toMatchObject({ _tag: "McpError", reason: "connection_failed" })
  await expect.poll(() => mcp.health.status).toBe("stopped")
  expect(await call(mcp, "work")).toMatchObject({ type: "error" })
  expect(starts()).toBe(3)
})

test("MCPH2. a connection that lasted a minute is no failed start", async () => {
  const { server, kill } = fragile()
  const mcp = await Mcp.start(system, server)
  for (const _ of [1, 2, 3]) {
    await clock.advance(60_000)
    void kill()
    await expect.poll(() => mcp.health).toMatchObject({ status: "waiting", failedStarts: 1 })
    await clock.advance(500)
    await expect.poll(() => mcp.health.status).toBe("connected")
  }
})

test("MCPH5. the restart by a supervisor does not fail while the server is down", async () => {
  const { server, setDown } = fragile()
  const mcp = await Mcp.connect(server)
  const supervisor = await Supervisor.start(system, { children: [mcp.childSpec], maxRestarts: 1 })
  setDown(true)
  Process.kill(pidOf(mcp))
  await expect.poll(() => mcp.health.status).toBe("waiting")
  expect(Process.isAlive(supervisor)).toBe(true)
  setDown(false)
  await clock.advance(500)
  await expect.poll(() => mcp.health.status).toBe("connected")
  await Supervisor.stop(supervisor)
})
