/** The means of `@troupe/otp`. */
import { DynamicSupervisor, GenServer, type Pid, Process, Registry, System, Timer } from "@troupe/otp"
import { contestantOf, type Mail, repeat, times } from "./contest.ts"

const counter = GenServer.make<void, number, "next", number, Mail>({
  init: () => GenServer.ok(0),
  handleCall: (_request, _from, state) => GenServer.replying(state + 1, state + 1),
  handleCast: (message, state) => {
    if (message === "add") return GenServer.noreply(state + 1)
    message()
    return GenServer.noreply(state)
  }
})

/** Calls a function for each message. */
const meter = GenServer.make({
  init: (done: () => void) => GenServer.ok(done),
  handleInfo: (_message: "tick", done) => done()
})

type Counter = ReturnType<typeof GenServer.spawnLink<void, number, "next", number, Mail, never>>

const sleeper = (system: System.System): Pid => Process.spawn(system, () => new Promise(() => {}))

/** Processes of `@troupe/otp`. The servers of a system are linked to one process. */
export const processes = contestantOf<System.System, Counter, unknown>({
  open: () => System.make(),
  close: (system) => System.stop(system),
  repeat,
  spawn: (system, body) => () => void Process.spawn(system, body),
  servers: (system, count) => {
    const owner = sleeper(system)
    return times(count, () => GenServer.spawnLink(owner, counter, undefined))
  },
  start: (system) => GenServer.start(system, counter, undefined),
  call: (server) => GenServer.call(server, "next"),
  cast: (server, mail) => GenServer.cast(server, mail),
  stop: (server) => GenServer.stop(server),
  supervise: async (system) => {
    const supervisor = await DynamicSupervisor.start(system)
    const child = { start: (parent: Pid) => GenServer.startLink(parent, counter, undefined) }
    return () => DynamicSupervisor.startChild(supervisor, child)
  },
  revive: async (system, up) => {
    const supervisor = await DynamicSupervisor.start(system, { maxRestarts: Infinity })
    const start = async (parent: Pid): Promise<Counter> => {
      const pid = await GenServer.startLink(parent, counter, undefined)
      up(pid)
      return pid
    }
    await DynamicSupervisor.startChild(supervisor, { start })
    return (pid) => Process.exit(pid, "boom")
  },
  table: async (system, keys) => {
    const registry = await Registry.start(system)
    const owner = sleeper(system)
    for (const key of keys) Registry.register(registry, key, GenServer.spawnLink(owner, counter, undefined))
    return (key) => Registry.whereis(registry, key) !== undefined
  },
  tick: async (system, count, done) => {
    const server = await GenServer.start(system, meter, done)
    return () => {
      for (let set = 0; set < count; set++) Timer.sendAfter(server, "tick", set % 10)
    }
  },
  cancel: (system, count) => {
    const owner = sleeper(system)
    return () => {
      const timers = times(count, () => Timer.sendAfter(owner, undefined as never, 60_000))
      for (const timer of timers) Timer.cancel(timer)
    }
  },
  watch: async (system, count, done) => {
    const [watched, server] = [sleeper(system), await GenServer.start(system, meter, done)]
    return () => {
      for (let set = 0; set < count; set++) Process.monitor(server, watched)
      Process.kill(watched)
    }
  },
  wait: (system) => void Process.spawn(system, (self) => Process.receive(self))
})
