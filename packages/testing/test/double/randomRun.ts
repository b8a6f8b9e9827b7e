/**
 * A whole random run under a seed: two chats of a Troupe, tools of all tempers, faults, sends, cancels, kills and
 * restarts, each at a time of its own on a test clock.
 */
import { Clock, Process, System } from "@troupe/otp"
import { Fake, type RunningTroupe, Troupe } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import * as Testing from "../../src/Testing.ts"
import { pick, randomTools, replyOf } from "../../../chat/test/double/randomParts.ts"

/** Where the run happens, and who writes it down. */
export interface Stage {
  readonly system: System.System
  readonly clock: Clock.TestClock
  readonly trace: Testing.Trace
}

/** A stage of a seed, with a trace made for it. */
export const stageOf = (
  seed: number,
  tracing: (options: Parameters<typeof Testing.trace>[0]) => Testing.Trace
): Stage => {
  const clock = Clock.test()
  const system = System.make({ clock, seed, name: "random" })
  return { system, clock, trace: tracing({ system }) }
}

/** Holds the thread, as a busy host does. */
const hold = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until;);
}

const names = "quick quick slow slow write write deaf aware throws fails asks halts".split(" ")

const waysToSend = ["queue", "steer", "interrupt", "reject"] as const

/** Does something to a chat; what it says is read along. */
const act = async ({ system, trace }: Stage, troupe: RunningTroupe, chance: () => number, step: number) => {
  const chat = await troupe.chat(pick(chance, ["a", "b"]))
  const kind = chance()
  if (kind < 0.65) {
    void trace.read(`${step}`, chat.send(`message ${step}`, { whenBusy: pick(chance, waysToSend) }))
  } else if (kind < 0.8) {
    trace.note("cancel", step)
    const failed = (failure: unknown): void => trace.note("not cancelled", failure)
    void chat.cancel().then(() => trace.note("cancelled", step), failed)
  } else if (kind < 0.9) {
    const pids = [...System.processes(system)]
    const victim = pids[Math.floor(chance() * pids.length)]
    trace.note("kill", String(victim))
    if (victim !== undefined) Process.kill(victim)
  } else if (chat.thread.messages.length > 0) {
    void trace.read(`retry ${step}`, chat.retry())
  }
}

/** Runs it; model and tools hold the thread for so many milliseconds at each call. */
export const randomRun = async (
  seed: number,
  stage: Stage,
  heldMs = 0,
  store: Store.SessionStore = Store.memory()
): Promise<string> => {
  const { system, clock, trace } = stage
  const script = System.make({ seed })
  const chance = () => System.random(script)
  const faults = Testing.faults({
    system,
    seed,
    rates: {
      adapter: { crash: 0.03, hang: 0.03, slow: 0.1, late: 0.03, duplicate: 0.03 },
      tool: { crash: 0.03, hang: 0.03, slow: 0.1, late: 0.05, duplicate: 0.03 },
      store: { crash: 0.02, slow: 0.1, late: 0.01, duplicate: 0.05 }
    }
  })
  const model = System.make({ seed: seed + 1_000_000 })
  const adapter = Fake.make({
    clock,
    respond: (_, request) => {
      hold(heldMs)
      return replyOf(() => System.random(model), names, request)
    }
  })
  const troupe = await Troupe.start({
    system,
    adapter: faults.adapter(trace.adapter(adapter)),
    tools: randomTools(clock, undefined, () => hold(heldMs)).map((tool) => faults.tool(trace.tool(tool))),
    store: faults.store(trace.store(store)),
    toolTimeoutMs: 100,
    drainMs: 20,
    maxConcurrency: 3,
    retry: { baseDelayMs: 10, jitterMs: 25 },
    budget: { timeMs: 400 }
  })
  for (const id of ["a", "b"]) {
    const chat = await clock.run(troupe.chat(id).catch(() => undefined))
    if (chat !== undefined) trace.chat(chat)
  }
  for (let step = 0; step < 8; step++) {
    void act(stage, troupe, chance, step).catch((failure: unknown) => trace.note("failed", failure))
    await clock.advance(Math.floor(chance() * 60))
  }
  await clock.advance(8_000)
  faults.release()
  await clock.advance(8_000)
  await clock.run(troupe.stop())
  await System.stop(system)
  return trace.text
}
