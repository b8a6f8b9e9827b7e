import { expect, test } from "vitest"
import { GenServer, Process, Supervisor } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { Storm } from "../adversarial/storm.ts"
import { hop } from "../double/hop.ts"
import { Dice } from "./dice.ts"
import { OtpModel } from "./otpModel.ts"
import type { End, Plan } from "./otpModel.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

const restarts = ["permanent", "permanent", "transient", "temporary"] as const
const strategies = ["oneForOne", "oneForAll", "restForOne"] as const
const ends = ["normal", "shutdown", "boom", "killed", "killed"] as const

const planOf = (dice: Dice, id: string, depth: number): Plan => {
  const supervises = depth === 0 || (depth < 3 && dice.oneIn(3))
  const count = 1 + dice.below(4)
  return {
    id,
    restart: dice.one(restarts),
    strategy: dice.one(strategies),
    maxRestarts: dice.below(6),
    children: supervises ? Array.from({ length: count }, (_, at) => planOf(dice, `${id}.${at}`, depth + 1)) : undefined
  }
}

/** A tree of processes by a plan, each monitored and counted when it starts. */
class Grove {
  readonly storm = new Storm()
  readonly starts = new Map<string, number>()
  readonly #pids = new Map<string, Pid>()

  readonly #worker = GenServer.make<string, null, never, never, { readonly end: unknown }>({
    init: (id, self) => {
      this.#planted(id, self)
      return GenServer.ok(null)
    },
    handleCast: (message, state) => GenServer.stopping(message.end, state)
  })

  #planted(id: string, pid: Pid): void {
    this.starts.set(id, (this.starts.get(id) ?? 0) + 1)
    this.#pids.set(id, this.storm.watch(pid))
  }

  async plant(plan: Plan, parent: Pid = this.storm.ground): Promise<Pid> {
    if (plan.children === undefined) return GenServer.startLink(parent, this.#worker, plan.id, { label: plan.id })
    const pid = await Supervisor.startLink(parent, {
      strategy: plan.strategy,
      maxRestarts: plan.maxRestarts,
      label: plan.id,
      children: plan.children.map((child) => ({
        id: child.id,
        restart: child.restart,
        type: child.children === undefined ? "worker" : "supervisor",
        start: (own) => this.plant(child, own)
      }))
    })
    this.#planted(plan.id, pid)
    return pid
  }

  get living(): ReadonlyArray<string> {
    return this.storm.living.map((pid) => pid.label).toSorted()
  }

  end(id: string, how: End): void {
    const pid = this.#pids.get(id)
    if (pid === undefined) return
    if (how === "killed") Process.kill(pid)
    else if (how === "boom" || how === "shutdown") Process.exit(pid, how, pid)
    else GenServer.cast<{ readonly end: unknown }>(pid, { end: how })
  }
}

const isWorker = (plan: Plan, id: string): boolean =>
  plan.id === id ? plan.children === undefined : (plan.children ?? []).some((child) => isWorker(child, id))

const pick = (dice: Dice, ids: ReadonlyArray<string>): string => ids[dice.below(ids.length)] ?? ""

test("a random tree under random ends is, after each, what the model of OTP says", async () => {
  for (const seed of seedsOf(150)) {
    const dice = new Dice(seed)
    const plan = planOf(dice, "0", 0)
    const grove = new Grove()
    await grove.plant(plan)
    const model = new OtpModel(plan)
    const story: Array<string> = []
    for (let step = 0; step < 12 && model.alive; step++) {
      const id = pick(dice, model.living)
      const how = isWorker(plan, id) ? dice.one(ends) : "killed"
      story.push(`${id} ${how}`)
      grove.end(id, how)
      model.end(id, how)
      await hop()
      expect([seed, story, grove.living, grove.starts]).toEqual([seed, story, model.living, model.starts])
    }
    await grove.storm.over()
  }
})

/** Whether those who live are a tree that its plans allow: nobody without a parent, nobody missing who must be there. */
const isSound = (plan: Plan, living: ReadonlySet<string>): boolean => {
  if (!living.has(plan.id)) return [...living].every((id) => id !== plan.id && !id.startsWith(`${plan.id}.`))
  return (plan.children ?? []).every(
    (child) => (child.restart !== "permanent" || living.has(child.id)) && isSound(child, living)
  )
}

test("a random tree under volleys of kills stays whole: no orphan, no permanent child missing, one DOWN each", async () => {
  for (const seed of seedsOf(80)) {
    const dice = new Dice(10_000 + seed)
    const plan = planOf(dice, "0", 0)
    const grove = new Grove()
    await grove.plant(plan)
    for (let volley = 0; volley < 6; volley++) {
      const { living } = grove
      if (living.length === 0) break
      const victims = Array.from({ length: 1 + dice.below(6) }, () => pick(dice, living))
      for (const [index, id] of victims.entries()) {
        grove.end(id, "killed")
        if (dice.oneIn(2)) for (let pause = 0; pause <= index; pause++) await Promise.resolve()
      }
      await hop()
      expect([seed, victims, isSound(plan, new Set(grove.living)), new Set(grove.living).size]).toEqual([
        seed,
        victims,
        true,
        grove.living.length
      ])
    }
    await grove.storm.over()
  }
})

test("a tree that is stopped at any point of a volley of kills is gone, whatever was being restarted", async () => {
  for (const seed of seedsOf(80)) {
    const dice = new Dice(20_000 + seed)
    const plan = planOf(dice, "0", 0)
    const grove = new Grove()
    const root = await grove.plant(plan)
    for (let shots = dice.below(8); shots > 0; shots--) grove.end(pick(dice, grove.living), "killed")
    for (let pause = dice.below(40); pause > 0; pause--) await Promise.resolve()
    Process.exit(root, dice.one(["kill", "shutdown"]), grove.storm.ground)
    await hop()
    expect([seed, grove.living]).toEqual([seed, []])
    await grove.storm.settled()
    await grove.storm.over()
  }
})
