/**
 * Random chats under a seed, and the checks of what they leave.
 *
 * Works in eras: random acts run concurrently for some time; then all hanging calls are released, all turns are awaited, and open
 * resources are counted. Sometimes the Troupe is stopped and another is started on the same store. A finished chat is checked and
 * forgotten.
 *
 * LAB21. Everything that was awaited comes, no rejection is unhandled, and a call has one outcome in a turn.
 */
import { Chat, type LocalChatRef, Engine, Fake, type RunningTroupe, Troupe, user } from "@troupe/chat"
import { Zombies } from "@troupe/chat/observe"
import type { Conversation, Store } from "@troupe/chat/store"
import { Testing } from "@troupe/testing"
import { runToolCalls } from "@troupe/chat/tools"
import { Clock, EventLoop, Process, System, Telemetry } from "@troupe/otp"
import { anyOf, pick, randomTools, replyOf, toolNames } from "../../../packages/chat/test/double/randomParts.ts"
import { chanceOf } from "../chance.ts"
import { callsOf, pendingOf, wrongRecord } from "../check/conversations.ts"
import { settlesWithin, until } from "../delays.ts"
import { Counts, wrongLate, wrongLeft, wrongZombies } from "../check/counts.ts"
import { actsOf } from "./acts.ts"
import { placesOpen, runsOf, toolsElsewhere } from "./tools.ts"

const rates = {
  adapter: { crash: 0.02, hang: 0.02, slow: 0.05, late: 0.02, duplicate: 0.02 },
  tool: { crash: 0.03, hang: 0.02, slow: 0.05, late: 0.03, duplicate: 0.02 },
  store: { crash: 0.01, slow: 0.05, late: 0.0005, hang: 0.0005, duplicate: 0.02 }
} satisfies NonNullable<Parameters<typeof Testing.faults>[0]>["rates"]

const limits = { toolTimeoutMs: 60, drainMs: 25 }
const retry = { baseDelayMs: 2, jitterMs: 5 }
const atRest = new Set("idle interrupted awaitingUser awaitingTools awaitingApproval".split(" "))
const mostTurns = 25
/** The maximum wait for something that must happen: several times the wait for a store that hangs. */
const patienceMs = 30_000
const roundMs = 20
const ways = ["queue", "steer", "interrupt", "reject"] as const

/** Starts a soak on the host's time, or on a test clock; so many chats are alive at a time. */
export const soakOf = (seed: number, chats: number, manual?: Clock.TestClock) => {
  const counts = new Counts()
  const found: Array<string> = []
  const chance = chanceOf(seed)
  const clock = manual ?? Clock.live
  const system = System.make({ name: "soak", clock, ...(manual === undefined ? {} : { seed }) })
  Telemetry.attach(system, "process.spawn", () => counts.begin("processes"))
  Telemetry.attach(system, "process.exit", () => counts.end("processes"))
  Telemetry.attach(system, "tool_call.late_completion", () => counts.add("late completions"))

  const sleep = (ms: number): Promise<void> => new Promise((resolve) => void clock.setTimeout(resolve, ms))
  const pass = (ms: number): Promise<void> => (manual === undefined ? sleep(ms) : manual.advance(Math.round(ms)))
  /** Waits at most `patienceMs`; a timeout is counted. */
  const within = async (work: Promise<unknown>, what: string): Promise<void> => {
    const done = work.then(() => true)
    const isDone =
      manual === undefined ? settlesWithin(patienceMs, done).then((isOver) => isOver && done) : manual.run(done)
    if (await isDone.catch(() => false)) return
    counts.add("never came")
    counts.add(`never came: ${what}`)
  }

  /** The number of threads and child processes; always 0 on a test clock. */
  const placesBefore = placesOpen()
  const placesLeft = (): number => (manual === undefined ? placesOpen() - placesBefore : 0)

  let eras = 0
  const newFaults = () => Testing.faults({ system, seed: seed + eras, rates })
  let faults = newFaults()
  const runs = runsOf(counts, () => faults)
  const acts = actsOf(chance, sleep, counts)
  const elsewhere = manual === undefined ? toolsElsewhere() : []
  const names = [...toolNames, ...(elsewhere.length === 0 ? [] : toolNames), ...elsewhere.map(({ name }) => name)]
  const modelChance = chanceOf(seed + 1)
  let requests = 0
  const respond = () => replyOf(modelChance, names, (requests += 1))
  const model = Fake.make({ clock, respond })
  const tools = [...randomTools(clock, runs.deaf), ...elsewhere].map(runs.counted)

  const records = new Map<string, Conversation>()
  /** A store that checks what it gets. A call that it has no longer, as its save seemed to fail, has not begun. */
  const store: Store.RecordStore = {
    load: (id) => records.get(id),
    save: (record) => {
      const former = records.get(record.id)
      const calls = new Set(callsOf(record))
      const withdrawn = former === undefined ? [] : pendingOf(former).filter((call) => !calls.has(call))
      const begun = withdrawn.filter((call) => runs.hasWritten(call))
      found.push(...wrongRecord(record), ...begun.map((call) => `LAB4: "${call}" began, and is not stored`))
      counts.add("saves")
      counts.add("calls withdrawn", withdrawn.length)
      counts.add("calls stored", calls.size - (former === undefined ? 0 : new Set(callsOf(former)).size))
      records.set(record.id, record)
    },
    delete: (id) => void records.delete(id)
  }

  const start = (): Promise<RunningTroupe> =>
    Troupe.start({
      system,
      adapter: { name: "model", stream: (request, options) => faults.adapter(model).stream(request, options) },
      tools,
      store: {
        ...store,
        load: (id) => faults.store(store).load(id),
        save: (record) => faults.store(store).save(record)
      },
      ...limits,
      maxConcurrency: 4,
      maxTurns: 5,
      retry,
      budget: { timeMs: 400 }
    })
  let troupe: RunningTroupe | undefined
  const stopTroupe = async (): Promise<void> => {
    if (troupe !== undefined) await within(troupe.stop(), "the stop of the Troupe")
    troupe = undefined
  }

  const pending = new Map<Promise<void>, string>()
  const track = (what: string, work: Promise<void>): void => {
    const tracked: Promise<void> = work
      .catch((error: unknown) => counts.add(`acts that failed: ${String(error).slice(0, 300)}`))
      .finally(() => pending.delete(tracked))
    pending.set(tracked, what)
  }

  /** The chats that are used, and how many turns each has had. */
  const turns = new Map<string, number>()
  const refs = new Map<string, LocalChatRef>()
  let made = 0
  const anyChat = async (running: RunningTroupe): Promise<LocalChatRef | undefined> => {
    if (turns.size < chats) turns.set(`chat ${(made += 1)}`, 0)
    const id = anyOf(chance, [...turns.keys()]) ?? "chat 0"
    const chat = await running.chat(id).catch(() => undefined)
    if (chat === undefined) counts.add("chats that did not start")
    else refs.set(id, chat)
    return chat
  }

  /** Each text is sent once, so that the checker knows an input by it (LAB1). */
  let sent = 0
  const text = (): string => `message ${(sent += 1)}`
  const answer = (chat: LocalChatRef): Promise<void> => acts.answer(chat, text)
  const send = async (chat: LocalChatRef): Promise<void> => {
    turns.set(chat.id, (turns.get(chat.id) ?? 0) + 1)
    await acts.read(chat.send(text(), { whenBusy: pick(chance, ways) }))
  }

  /** Ends any process but the root, which nothing would start again. */
  const kill = (): void => {
    const pids = [...System.processes(system)].filter((pid) => Process.info(pid)?.label !== "Troupe")
    const victim = anyOf(chance, pids)
    if (victim === undefined) return
    counts.add(`kills of ${Process.info(victim)?.label.split(" ")[0] ?? "nothing"}`)
    Process.kill(victim)
  }

  /** Runs a chat or a batch through the functional API, with a signal that may be aborted. */
  const onValues = async (): Promise<void> => {
    const controller = new AbortController()
    const options = { system, signal: controller.signal, ...limits }
    const aborted = sleep(chance() * 150).then(() => controller.abort())
    if (chance() < 0.5) {
      const engine = Engine.make({ adapter: faults.adapter(model), tools })
      await acts.stream(
        Chat.stream(engine, [user("go")], { ...options, maxTurns: 3, retry, onUnknownTool: "continue" })
      )
    } else {
      const own = tools.filter(({ manual: isManual }) => !isManual)
      const calls = Array.from({ length: 4 }, (_, index) => ({
        id: `v${index}`,
        name: anyOf(chance, own)?.name ?? "",
        arguments: { ms: 5, key: "a" }
      }))
      const { messages } = await counts.during("batches", () => runToolCalls(calls, own, options))
      if (messages.length !== calls.length) counts.add("never came")
    }
    await aborted
  }

  const act = (running: RunningTroupe): void => {
    const kind = chance()
    if (kind < 0.1) return kill()
    if (kind < 0.18) return track("a functional run", onValues())
    const onChat = async (): Promise<void> => {
      const chat = await anyChat(running)
      if (chat === undefined) return
      if (kind < 0.6) return send(chat)
      if (kind < 0.67) return acts.cancel(chat)
      if (kind < 0.7) return acts.withdraw(chat)
      if (kind < 0.75) return acts.control(chat)
      if (kind < 0.82) return acts.subscribe(chat, chance() * 200)
      if (kind < 0.9) return acts.attach(chat)
      await (kind < 0.95 ? answer(chat) : acts.retry(chat))
    }
    track(`an act on a chat, ${kind}`, onChat())
  }

  /** The chats that `answerAll` is still loading. */
  const sought = new Set<string>()
  /** Gives results, decisions and answers, since accepted inputs wait for them. */
  const answerAll = (running: RunningTroupe): void => {
    for (const id of turns.keys()) {
      if (sought.has(id)) continue
      sought.add(id)
      const chat = running.chat(id).finally(() => sought.delete(id))
      track(`the answer to ${id}`, chat.then(answer))
    }
  }

  const retire = async (running: RunningTroupe, id: string): Promise<void> => {
    const stopped = running.chat(id).then((chat) => chat.stop())
    await within(stopped, "the stop of a chat")
    for (const kept of [records, turns, refs]) kept.delete(id)
  }

  /** Whether a chat runs a turn, including turns for inputs that were accepted before a restart. */
  const isBusy = (): boolean =>
    [...refs.values()].some((chat) => !atRest.has(chat.getSnapshot()?.context.phase ?? "idle"))

  /** Waits for everything that was started, checks the handlers that still run, and releases the hanging ones. */
  const calm = async (running: RunningTroupe): Promise<void> => {
    for (let waited = 0; waited < patienceMs && (pending.size > 0 || isBusy()); waited += roundMs) {
      answerAll(running)
      await pass(roundMs)
    }
    await within(Promise.all(pending.keys()), "what was begun")
    for (const doing of pending.values()) counts.add(`never came: ${doing}`)
    pending.clear()
    // A handler that has just settled leaves the lists a moment later, so both lists are read in a turn of their own.
    await new Promise<void>((resolve) => EventLoop.nextTurn(resolve))
    const { running: open, aborted } = runs.open()
    const { listed } = Zombies.counts(system)
    counts.add("handlers that outlived their calls", open)
    found.push(...wrongZombies(open, listed, aborted))
    faults.release()
    runs.release()
    await pass(100)
    for (const [id, count] of turns) if (count > mostTurns) await retire(running, id)
    ;(model.requests as Array<unknown>).splice(0)
  }

  return {
    counts,
    /** An era: so many random acts, then quiet. */
    era: async (times: number): Promise<void> => {
      faults = newFaults()
      troupe ??= await start()
      for (let count = 0; count < times; count++) {
        act(troupe)
        await pass(chance() * 12)
      }
      await calm(troupe)
      eras += 1
      if (eras % 4 !== 0) return
      counts.add("restarts of the Troupe")
      refs.clear()
      await stopTroupe()
    },
    /** Stops everything. */
    stop: async (): Promise<void> => {
      await stopTroupe()
      await within(System.stop(system), "the stop of the system")
      await until(() => placesLeft() === 0, patienceMs)
    },
    /** The faults, when everything is stopped. */
    wrong: (): ReadonlyArray<string> => {
      const { processes, fibers, timers, closing } = System.stats(system)
      const zombies = Zombies.counts(system)
      const [late, open] = [counts.get("late completions"), runs.open().running]
      const left = { processes, fibers, timers, closing, "model streams": model.open, "places of tools": placesLeft() }
      const none = ["unhandled rejections", "never came", "outcomes twice in a turn"]
      return [
        ...found,
        ...counts.wrong,
        ...wrongLeft(left),
        ...wrongLate(zombies.late, zombies.listed, late + open),
        ...none.flatMap((name) => (counts.get(name) === 0 ? [] : [`LAB21: ${name}: ${counts.get(name)}`]))
      ]
    }
  }
}
