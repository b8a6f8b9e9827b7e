import { afterAll, beforeAll, expect, test } from "vitest"
import { GenServer, Process, Registry, System, Timer } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop, until } from "../double/hop.ts"
import { dearer } from "./cost.ts"
import type { Measured } from "./cost.ts"

const few = 5_000
const times = 2_000
/** What is linear costs ten times as much; what is not may still miss the processor's caches. */
const bound = 4

const passive = GenServer.make<void, null>({ init: () => GenServer.ok(null) })

/** A system with so many processes, one of which is linked to all and watches all, and has as much mail. */
class Town {
  readonly system = System.make()
  readonly hub: Pid<unknown> = Process.spawn(this.system, () => new Promise(() => {}), { label: "hub" })
  readonly registry: Promise<Pid>
  readonly folk: ReadonlyArray<Pid>

  constructor(size: number) {
    Process.trapExit(this.hub, true)
    this.folk = Array.from({ length: size }, () => this.settle())
    for (const pid of this.folk) Process.monitor(this.hub, pid)
    for (let index = 0; index < size; index++) Process.send(this.hub, index)
    this.registry = Registry.start(this.system)
  }

  settle(): Pid {
    return GenServer.spawnLink(this.hub, passive, undefined)
  }

  newcomers(): ReadonlyArray<Pid> {
    return Array.from({ length: times }, () => this.settle())
  }

  async enter(): Promise<Pid> {
    const registry = await this.registry
    for (const [key, pid] of this.folk.entries()) Registry.register(registry, key, pid)
    return registry
  }

  async end(): Promise<void> {
    Process.kill(this.hub)
    await System.stop(this.system)
  }
}

let village: Town
let city: Town

beforeAll(async () => {
  village = new Town(few)
  city = new Town(few * 10)
  await hop()
})

afterAll(async () => {
  await village.end()
  await city.end()
})

const growth = (make: (town: Town) => Measured): Promise<number> => dearer(9, make(city), make(village))

test("a spawn costs the same among ten times as many processes", async () => {
  const spawning = (town: Town): Measured => {
    let made: ReadonlyArray<Pid> = []
    return {
      run: () => void (made = town.newcomers()),
      undo: () => {
        for (const pid of made) Process.unlink(town.hub, pid)
        for (const pid of made) Process.kill(pid)
      }
    }
  }
  expect(await growth(spawning)).toBeLessThan(bound)
})

test("an exit costs the same among ten times as many processes, also of one linked to a hub of all", async () => {
  const ending = (town: Town): Measured => {
    let mortal = town.newcomers()
    return {
      run: () => {
        for (const pid of mortal) Process.kill(pid)
      },
      undo: () => void (mortal = town.newcomers())
    }
  }
  expect(await growth(ending)).toBeLessThan(bound)
})

test("a send costs the same to a mailbox ten times as long", async () => {
  const sending = (town: Town): Measured => ({
    run: () => {
      for (let index = 0; index < times * 5; index++) Process.send(town.hub, index)
    }
  })
  expect(await growth(sending)).toBeLessThan(bound)
})

test("a link and its end cost the same for a process with ten times as many links", async () => {
  const linking = (town: Town): Measured => {
    const others = town.newcomers()
    return {
      run: () => {
        for (const pid of others) Process.unlink(town.hub, pid)
        for (const pid of others) Process.link(town.hub, pid)
      }
    }
  }
  expect(await growth(linking)).toBeLessThan(bound)
})

test("a monitor and its end cost the same for a process with ten times as many monitors", async () => {
  const watching = (town: Town): Measured => {
    const others = town.newcomers()
    return {
      run: () => {
        for (const ref of others.map((pid) => Process.monitor(town.hub, pid))) Process.demonitor(ref)
      }
    }
  }
  expect(await growth(watching)).toBeLessThan(bound)
})

test("registering, looking up and unregistering cost the same in a registry with ten times as many entries", async () => {
  const registries = new Map<Town, Pid>([
    [village, await village.enter()],
    [city, await city.enter()]
  ])
  const entering = (town: Town): Measured => {
    const registry = registries.get(town) ?? town.hub
    const others = town.newcomers()
    return {
      run: () => {
        for (const [index, pid] of others.entries()) Registry.register(registry, `key ${index}`, pid)
        for (let index = 0; index < times; index++) Registry.whereis(registry, `key ${index}`)
        for (const [index, pid] of others.entries()) Registry.unregister(registry, `key ${index}`, pid)
      }
    }
  }
  expect(await growth(entering)).toBeLessThan(bound)
})

test("a timer that is cancelled costs little more among ten times as many timers", async () => {
  for (const town of [village, city]) for (const pid of town.folk) Timer.sendAfter(pid, null as never, "1 hour")
  const timing = (town: Town): Measured => ({
    run: () => {
      for (let index = 0; index < times; index++) Timer.cancel(Timer.sendAfter(town.hub, index, "1 hour"))
    }
  })
  expect(await growth(timing)).toBeLessThan(bound)
})

test("RUN3 waking four times as many processes at once takes four times as long, not sixteen times", async () => {
  const waking = (count: number): Measured => {
    let left = 0
    const alarm = GenServer.make<void, null, never, never, "wake">({
      init: () => GenServer.ok(null),
      handleCast: (_message, state) => {
        left--
        return GenServer.noreply(state)
      }
    })
    const sleepers = Array.from({ length: count }, () => GenServer.spawnLink(city.hub, alarm, undefined))
    return {
      run: () => {
        left = count
        for (const pid of sleepers) GenServer.cast(pid, "wake")
        return until(() => left === 0)
      }
    }
  }
  expect(await dearer(3, waking(100_000), waking(25_000))).toBeLessThan(12)
})
