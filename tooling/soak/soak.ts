/**
 * Random chats under a seed, and the checks of their counts.
 *
 * Works in eras: random acts run concurrently for some time; then all hanging calls are released, all turns are awaited,
 * and open resources are counted. Sometimes the Troupe is stopped and another is started on the same store.
 *
 * SOAK1. All acts are drawn from the seed; on a test clock they repeat exactly.
 * SOAK2. The data for the counts does not grow: a finished chat is counted and forgotten.
 */
import { Chat, type LocalChatRef, Engine, Troupe, user } from "@troupe/chat"
import { Zombies } from "@troupe/chat/observe"
import { Testing } from "@troupe/chat/testing"
import { runToolCalls, type Tool } from "@troupe/chat/tools"
import { Clock, EventLoop, Process, System, Telemetry } from "@troupe/otp"
import { type Acting, answer, cancelTurn, controlCall, retryTurn } from "./acts.ts"
import { AuditedStore } from "./audit.ts"
import { type Chance, chanceOf, pick } from "./chance.ts"
import { placesOpen, toolsElsewhere } from "./elsewhere.ts"
import { equationsOf } from "./equations.ts"
import { type Equation, Ledger } from "./ledger.ts"
import { type Model, modelOf } from "./model.ts"
import { attach, readStream, readTurn, type Sleep, subscribe } from "./readers.ts"
import { Runs, toolNames, toolsOf } from "./tools.ts"

/** The options of a soak, on the host's time or on a test clock. */
export interface SoakOptions {
  readonly seed: number
  readonly clock?: Clock.TestClock | undefined
  /** The number of chats alive at a time. Default 12. */
  readonly chats?: number | undefined
}

type Running = Awaited<ReturnType<typeof Troupe.start>>

const rates = {
  adapter: { crash: 0.02, hang: 0.02, slow: 0.05, late: 0.02, duplicate: 0.02 },
  tool: { crash: 0.03, hang: 0.02, slow: 0.05, late: 0.03, duplicate: 0.02 },
  store: { crash: 0.01, slow: 0.05, late: 0.0005, hang: 0.0005, duplicate: 0.02 }
} satisfies NonNullable<Parameters<typeof Testing.faults>[0]>["rates"]

const atRest: ReadonlySet<string> = new Set([
  "idle",
  "interrupted",
  "awaitingUser",
  "awaitingTools",
  "awaitingApproval"
])
const mostTurns = 25
/** The maximum wait for something that must happen: several times the wait for a store that hangs. */
const patienceMs = 30_000
const roundMs = 20
const ways: readonly [
  NonNullable<NonNullable<Parameters<LocalChatRef["send"]>[1]>["whenBusy"]>,
  ...ReadonlyArray<NonNullable<NonNullable<Parameters<LocalChatRef["send"]>[1]>["whenBusy"]>>
] = ["queue", "steer", "interrupt", "reject"]

/** A running soak. */
export class Soak {
  readonly ledger = new Ledger()
  readonly #seed: number
  readonly #chance: Chance
  readonly #manual: Clock.TestClock | undefined
  readonly #clock: Clock.Clock
  readonly #system: System.System
  readonly #model: Model
  readonly #runs: Runs
  readonly #store: AuditedStore
  readonly #tools: ReadonlyArray<Tool.Tool>
  readonly #chats: number
  readonly #placesBefore = placesOpen()
  readonly #names: Array<string> = []
  readonly #turns = new Map<string, number>()
  readonly #refs = new Map<string, LocalChatRef>()
  /** The chats that `#answerAll` is still loading. */
  readonly #sought = new Set<string>()
  readonly #pending = new Map<Promise<void>, () => string>()
  #faults: ReturnType<typeof Testing.faults>
  #troupe: Running | undefined
  #made = 0
  #doing = { what: "" }
  #eras = 0

  constructor({ seed, clock, chats = 12 }: SoakOptions) {
    this.#seed = seed
    this.#chance = chanceOf(seed)
    this.#manual = clock
    this.#clock = clock ?? Clock.live
    this.#chats = chats
    this.#system = System.make({ name: "soak", clock: this.#clock, ...(clock === undefined ? {} : { seed }) })
    Telemetry.attach(this.#system, "process.spawn", () => this.ledger.add("processes"))
    Telemetry.attach(this.#system, "tool_call.late_completion", () => this.ledger.add("late completions"))
    Telemetry.attach(this.#system, "process.exit", () => this.ledger.add("processes over"))
    this.#faults = this.#newFaults()
    this.#runs = new Runs(this.ledger)
    const elsewhere = clock === undefined ? toolsElsewhere() : []
    const names = elsewhere.map(({ name }) => name)
    this.#model = modelOf(
      this.#clock,
      chanceOf(seed + 1),
      names.length === 0 ? toolNames : [...toolNames, ...toolNames, ...names]
    )
    this.#store = new AuditedStore(this.ledger, (id) => this.#runs.hasWritten(id))
    const tools = [...toolsOf(this.#clock, this.#runs), ...elsewhere]
    this.#tools = tools.map((made) => this.#runs.counted(this.#faulty(made)))
  }

  /** An era: so many random acts, then quiet. */
  async era(acts: number): Promise<void> {
    this.#faults = this.#newFaults()
    this.#troupe ??= await this.#start()
    for (let act = 0; act < acts; act++) {
      this.#track(this.#act(this.#troupe))
      await this.#pass(this.#chance() * 12)
    }
    await this.#calm(this.#troupe)
    this.#eras += 1
    if (this.#eras % 4 === 0) await this.#restart()
  }

  /** Stops everything. */
  async stop(): Promise<void> {
    if (this.#troupe !== undefined) await this.#within(this.#troupe.stop(), "the stop of the Troupe")
    this.#troupe = undefined
    await this.#within(System.stop(this.#system), "the stop of the system")
    for (let waited = 0; waited < patienceMs && this.#placesLeft > 0; waited += roundMs) await this.#pass(roundMs)
    this.#store.retireAll()
  }

  /** The equations that must hold. */
  equations(rejections: number): ReadonlyArray<Equation> {
    return equationsOf({
      ledger: this.ledger,
      stats: System.stats(this.#system),
      zombies: Zombies.counts(this.#system),
      running: this.#runs.open.running,
      streams: this.#model,
      placesLeft: this.#placesLeft,
      rejections
    })
  }

  /** The number of threads and child processes; always 0 on a test clock. */
  get #placesLeft(): number {
    return this.#manual === undefined ? placesOpen() - this.#placesBefore : 0
  }

  #newFaults(): ReturnType<typeof Testing.faults> {
    return Testing.faults({ system: this.#system, seed: this.#seed + this.#eras, rates })
  }

  #faulty(made: Tool.Tool): Tool.Tool {
    return made.handler === null
      ? made
      : { ...made, handler: (args, context) => this.#faults.tool(made).handler?.(args, context) as never }
  }

  #start(): Promise<Running> {
    const store = this.#store
    return Troupe.start({
      system: this.#system,
      adapter: {
        name: "model",
        stream: (request, options) => this.#faults.adapter(this.#model).stream(request, options)
      },
      tools: this.#tools,
      store: {
        load: (id) => this.#faults.store(store).load(id),
        save: (record) => this.#faults.store(store).save(record),
        delete: (id) => store.delete(id)
      },
      toolTimeoutMs: 60,
      drainMs: 25,
      maxConcurrency: 4,
      maxTurns: 5,
      retry: { baseDelayMs: 2, jitterMs: 5 },
      budget: { timeMs: 400 }
    })
  }

  async #restart(): Promise<void> {
    this.ledger.add("restarts of the Troupe")
    this.#refs.clear()
    if (this.#troupe !== undefined) await this.#within(this.#troupe.stop(), "the stop of the Troupe")
    this.#troupe = undefined
  }

  /** Waits for everything that was started, counts the handlers that still run, and releases the hanging ones. */
  async #calm(troupe: Running): Promise<void> {
    for (let waited = 0; waited < patienceMs && (this.#pending.size > 0 || this.#isBusy()); waited += roundMs) {
      this.#answerAll(troupe)
      await this.#pass(roundMs)
    }
    await this.#within(Promise.all(this.#pending.keys()), "what was begun")
    for (const doing of this.#pending.values()) this.ledger.add(`never came: ${doing()}`)
    this.#pending.clear()
    // A handler that has just settled leaves the lists a moment later, so both lists are read in a turn of their own.
    await new Promise<void>((resolve) => EventLoop.nextTurn(resolve))
    const { running, reported } = this.#runs.open
    this.ledger.add("handlers that outlived their calls", running)
    this.ledger.add("of those listed", Zombies.counts(this.#system).listed)
    this.ledger.add("of those aborted by their signal", reported)
    this.#faults.release()
    this.#runs.release()
    await this.#pass(100)
    for (const id of this.#names) if ((this.#turns.get(id) ?? 0) > mostTurns) await this.#retire(troupe, id)
    this.#model.forget()
  }

  /** Whether a chat runs a turn, including turns for inputs that were accepted before a restart. */
  #isBusy(): boolean {
    return [...this.#refs.values()].some((chat) => {
      const phase = chat.getSnapshot()?.context.phase ?? "idle"
      return !atRest.has(phase)
    })
  }

  /** Gives the results of pending calls, since an accepted input waits for them. */
  #answerAll(troupe: Running): void {
    const answered = async (id: string): Promise<void> => {
      this.#doing = { what: `the answer to ${id}` }
      this.#sought.add(id)
      const chat = await troupe.chat(id).finally(() => this.#sought.delete(id))
      await answer(chat, this.#acting)
    }
    for (const id of this.#names) if (!this.#sought.has(id)) this.#track(answered(id))
  }

  async #retire(troupe: Running, id: string): Promise<void> {
    await this.#within(
      troupe.chat(id).then((chat) => chat.stop()),
      "the stop of a chat"
    )
    this.#store.retire(id)
    this.#turns.delete(id)
    this.#refs.delete(id)
    this.#names.splice(this.#names.indexOf(id), 1)
  }

  async #act(troupe: Running): Promise<void> {
    const doing = (this.#doing = { what: "" })
    const kind = this.#chance()
    if (kind < 0.1) return this.#kill()
    if (kind < 0.18) return this.#onValues()
    doing.what = `chat ${kind}`
    const chat = await this.#anyChat(troupe)
    if (chat === undefined) return
    doing.what = `${chat.id} ${kind}: ${chat.pid === undefined ? "no process" : ""}`
    if (kind < 0.6) return this.#send(chat)
    if (kind < 0.7) return cancelTurn(chat, this.#acting)
    if (kind < 0.75) return controlCall(chat, this.#acting)
    if (kind < 0.82) return subscribe(chat, this.#chance() * 200, this.#sleep, this.ledger)
    if (kind < 0.9) return attach(chat, this.#chance, this.#sleep, this.ledger)
    if (kind < 0.95) return answer(chat, this.#acting)
    await retryTurn(chat, this.#acting)
  }

  async #anyChat(troupe: Running): Promise<LocalChatRef | undefined> {
    if (this.#names.length < this.#chats) this.#names.push(`chat ${(this.#made += 1)}`)
    const id = this.#names[Math.floor(this.#chance() * this.#names.length)] ?? "chat 0"
    try {
      const chat = await troupe.chat(id)
      this.#refs.set(id, chat)
      return chat
    } catch {
      this.ledger.add("chats that did not start")
      return undefined
    }
  }

  async #send(chat: LocalChatRef): Promise<void> {
    this.#turns.set(chat.id, (this.#turns.get(chat.id) ?? 0) + 1)
    const turn = chat.send(`message ${this.ledger.get("turns")}`, { whenBusy: pick(this.#chance, ways) })
    await readTurn(turn, this.#chance, this.#sleep, this.ledger)
  }

  /** Ends any process but the root, which nobody would start again. */
  async #kill(): Promise<void> {
    const pids = [...System.processes(this.#system)].filter((pid) => Process.info(pid)?.label !== "Troupe")
    const victim = pids[Math.floor(this.#chance() * pids.length)]
    if (victim === undefined) return
    this.ledger.add(`kills of ${Process.info(victim)?.label.split(" ")[0] ?? "nobody"}`)
    Process.kill(victim)
  }

  /** Runs a chat or a batch through the functional API, with a signal that may be aborted. */
  async #onValues(): Promise<void> {
    const controller = new AbortController()
    const options = { system: this.#system, signal: controller.signal, toolTimeoutMs: 60, drainMs: 25 }
    const aborted = this.#sleep(this.#chance() * 150).then(() => controller.abort())
    if (this.#chance() < 0.5) {
      const engine = Engine.make({ adapter: this.#faults.adapter(this.#model), tools: this.#tools })
      const retry = { baseDelayMs: 2, jitterMs: 5 }
      const stream = Chat.stream(engine, [user("go")], { ...options, maxTurns: 3, retry, onUnknownTool: "continue" })
      await readStream(stream, this.#chance, this.#sleep, this.ledger)
    } else {
      const tools = this.#tools.filter(({ manual }) => !manual)
      const calls = Array.from({ length: 4 }, (_, index) => {
        const { name } = pick(this.#chance, tools as [Tool.Tool, ...Array<Tool.Tool>])
        return { id: `v${index}`, name, arguments: { ms: 5, key: "a" } }
      })
      this.ledger.add("batches")
      const { messages } = await runToolCalls(calls, tools, options)
      if (messages.length !== calls.length) this.ledger.add("never came")
      this.ledger.add("batches over")
    }
    await aborted
  }

  #track(work: Promise<void>): void {
    const doing = this.#doing
    const tracked: Promise<void> = work
      .catch((error: unknown) => this.ledger.add(`acts that failed: ${String(error).slice(0, 300)}`))
      .finally(() => this.#pending.delete(tracked))
    this.#pending.set(tracked, () => doing.what)
  }

  get #acting(): Acting {
    return { chance: this.#chance, sleep: this.#sleep, ledger: this.ledger }
  }

  readonly #sleep: Sleep = (ms) => new Promise((resolve) => void this.#clock.setTimeout(resolve, ms))

  #pass(ms: number): Promise<void> {
    return this.#manual === undefined ? this.#sleep(ms) : this.#manual.advance(Math.round(ms))
  }

  /** Waits at most `patienceMs`; a timeout is counted. */
  async #within(work: Promise<unknown>, what: string): Promise<void> {
    const never = (): void => {
      this.ledger.add("never came")
      this.ledger.add(`never came: ${what}`)
    }
    if (this.#manual !== undefined) return void (await this.#manual.run(work).catch(never))
    const limit = Promise.withResolvers<void>()
    const timer = Clock.live.setTimeout(limit.resolve, patienceMs)
    await Promise.race([work, limit.promise.then(never)])
    Clock.live.clearTimeout(timer)
  }
}
