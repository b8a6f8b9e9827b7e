/** The means of plain objects: a server is an object that empties its mailbox in a microtask. */
import { contestantOf, type Mail, repeat, times } from "./contest.ts"

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

class Counter extends Actor<Mail | "stop" | Question> {
  #state = 0
  #ended: (() => void) | undefined = undefined

  constructor() {
    super((mail) => {
      if (mail === "add") this.#state++
      else if (mail === "stop") this.#ended?.()
      else if (typeof mail === "function") mail()
      else mail.answer(++this.#state)
    })
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
}

/** An object that makes counters on request, references them, and replaces a crashed one. */
class Keeper extends Actor<((counter: Counter) => void) | { readonly crashed: Counter }> {
  readonly #children = new Set<Counter>()

  constructor(up: (counter: Counter) => void) {
    super((message) => {
      if (typeof message === "function") return message(this.#make())
      this.#children.delete(message.crashed)
      up(this.#make())
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

/** The function's `resolve` is kept, as a mailbox would keep it: otherwise the function would be collected. */
const waitIn = async (world: Array<unknown>): Promise<void> => {
  await new Promise<void>((resolve) => world.push(resolve))
}

/** Plain objects, promises and microtasks. A world is a list of all that lives. */
export const objects = contestantOf<Array<unknown>, Counter, unknown>({
  open: () => [],
  close: (world) => void world.splice(0),
  repeat,
  spawn: (_, body) => () => queueMicrotask(body),
  servers: (_, count) => times(count, () => new Counter()),
  start: (world) => {
    const counter = new Counter()
    world.push(counter)
    return Promise.resolve(counter)
  },
  call: (counter) => counter.call(),
  cast: (counter, mail) => counter.send(mail),
  stop: (counter) => counter.stop(),
  supervise: () => {
    const keeper = new Keeper(() => {})
    return () => keeper.start()
  },
  revive: async (_, up) => {
    const keeper = new Keeper(up)
    up(await keeper.start())
    return (crashed) => keeper.send({ crashed })
  },
  table: async (_, keys) => {
    const table = new Map(keys.map((key) => [String(key), new Counter()]))
    return (key) => table.get(String(key)) !== undefined
  },
  tick: (_, count, done) => () => {
    for (let set = 0; set < count; set++) setTimeout(done, set % 10)
  },
  cancel: (_, count) => () => {
    const timers = times(count, () => setTimeout(() => {}, 60_000))
    for (const timer of timers) clearTimeout(timer)
  },
  watch: (_, count, done) => () => {
    const watchers = new Set(times(count, () => () => done()))
    for (const watcher of watchers) watcher()
  },
  wait: (world) => void waitIn(world)
})
