/** The lines of the bench on plain objects: a server is an object that empties its mailbox in a microtask. */
import { among, burst, countdown, crowd, keys, many, times } from "./contest.ts"
import type { Contestant, Line } from "./contest.ts"

class Actor<M> {
  readonly #handle: (message: M) => void
  #mail: Array<M> = []
  #scheduled = false

  constructor(handle: (message: M) => void) {
    this.#handle = handle
  }

  send(message: M): void {
    this.#mail.push(message)
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(this.#drain)
  }

  readonly #drain = (): void => {
    this.#scheduled = false
    const mail = this.#mail
    this.#mail = []
    for (const message of mail) this.#handle(message)
  }
}

interface Question {
  readonly answer: (value: number) => void
}

type Mail = "add" | "stop" | (() => void) | Question

class Counter extends Actor<Mail> {
  #state = 0
  #ended: (() => void) | undefined = undefined

  constructor() {
    super((mail) => this.#take(mail))
  }

  call(): Promise<number> {
    return new Promise((answer) => this.send({ answer }))
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#ended = resolve
      this.send("stop")
    })
  }

  #take(mail: Mail): void {
    if (mail === "add") this.#state++
    else if (mail === "stop") this.#ended?.()
    else if (typeof mail === "function") mail()
    else mail.answer(++this.#state)
  }
}

/** An object that makes counters on request, references them, and replaces a crashed one. */
class Keeper extends Actor<((counter: Counter) => void) | { readonly crashed: Counter }> {
  readonly #children = new Set<Counter>()
  up = (_counter: Counter): void => {}

  constructor() {
    super((message) => {
      if (typeof message === "function") return message(this.#make())
      this.#children.delete(message.crashed)
      this.up(this.#make())
    })
  }

  start(): Promise<Counter> {
    return new Promise((resolve) => this.send(resolve))
  }

  #make(): Counter {
    const counter = new Counter()
    this.#children.add(counter)
    return counter
  }
}

const nothing = (): void => {}

const spawn: Line = (count) => {
  const { done, over } = countdown(count)
  const run = (): Promise<void> => {
    for (let made = 0; made < count; made++) queueMicrotask(done)
    return over
  }
  return { run, end: nothing }
}

const starting: Line = (count) => {
  const table = new Map<number, Counter>()
  const run = async (): Promise<void> => {
    for (let made = 0; made < count; made++) table.set(made, await Promise.resolve(new Counter()))
  }
  return { run, end: () => table.clear() }
}

const call: Line = (count) => {
  const counter = new Counter()
  const run = async (): Promise<void> => {
    for (let asked = 0; asked < count; asked++) await counter.call()
  }
  return { run, end: nothing }
}

const cast: Line = (count) => {
  const counter = new Counter()
  const run = async (): Promise<void> => {
    for (let sent = 0; sent < count; sent += burst) {
      for (let index = 0; index < burst; index++) counter.send("add")
      await counter.call()
    }
  }
  return { run, end: nothing }
}

const stop: Line = (count) => {
  const counters = times(count, () => new Counter())
  const run = async (): Promise<void> => {
    for (const counter of counters) await counter.stop()
  }
  return { run, end: nothing }
}

const supervisedStart: Line = (count) => {
  const keeper = new Keeper()
  const run = async (): Promise<void> => {
    for (let made = 0; made < count; made++) await keeper.start()
  }
  return { run, end: nothing }
}

const restart: Line = async (count) => {
  const keeper = new Keeper()
  let newest = keeper.start()
  const run = async (): Promise<void> => {
    for (let crashed = 0; crashed < count; crashed++) {
      const counter = await newest
      newest = new Promise((resolve) => (keeper.up = resolve))
      keeper.send({ crashed: counter })
    }
    await newest
  }
  return { run, end: nothing }
}

const lookup: Line = (count) => {
  const table = new Map<unknown, Counter>(keys.map((key) => [key, new Counter()]))
  const run = (): void => {
    let found = 0
    for (let asked = 0; asked < count; asked++) if (table.get(keys[asked % keys.length]) !== undefined) found++
    if (found !== count) throw new Error("an object was not found")
  }
  return { run, end: nothing }
}

const through =
  (objects: number): Line =>
  (count) => {
    const counters = times(objects, () => new Counter())
    const { done, over } = countdown(objects)
    const run = (): Promise<void> => {
      for (let sent = 0; sent < count; sent += objects) for (const counter of counters) counter.send("add")
      for (const counter of counters) counter.send(done)
      return over
    }
    return { run, end: nothing }
  }

const idle: Line = (count) => {
  let kept: Array<Counter> = []
  const run = (): void => {
    kept = times(count, () => new Counter())
  }
  return { run, end: () => void kept.splice(0) }
}

/**
 * The promise's resolve function is kept, as a mailbox would keep it: otherwise the waiting function would be collected.
 */
const waiting: Line = (count) => {
  const kept: Array<() => void> = []
  const wait = async (): Promise<void> => {
    await new Promise<void>((resolve) => kept.push(resolve))
  }
  const run = (): void => {
    for (let made = 0; made < count; made++) void wait()
  }
  return { run, end: () => void kept.splice(0) }
}

/** Plain objects, promises and microtasks. */
export const objects: Contestant = {
  spawn,
  start: starting,
  startAmong: among(crowd, idle, starting),
  call,
  cast,
  stop,
  supervisedStart,
  restart,
  lookup,
  throughOne: through(1),
  throughMany: through(many),
  waiting,
  idle
}
