/** Random programs of chains: all that one input causes, over tasks, approvals, handoffs and sub-agents, under small limits. */
import { Telemetry } from "@troupe/otp"
import { expect, test } from "vitest"
import { subagent } from "../../src/agents/subagentTool.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import type { ChatTurn } from "../../src/troupe/ChatRef.ts"
import { text } from "../../src/model/Message.ts"
import type { Request } from "../../src/model/Request.ts"
import { isRuntimeInput } from "../../src/record/Chain.ts"
import type { ChatResult } from "../../src/record/ChatResult.ts"
import { memory } from "../../src/store/Store.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { pausesBy, pausing, pausingLoads, turnsOfLoop } from "../double/pausing.ts"
import { anyOf, pick } from "../double/randomParts.ts"
import { chanceOf } from "../double/randomTalk.ts"
import { childrenIn } from "../double/subagents.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

/** What each request costs. */
const cost = 100

/** How many rounds of the event loop a chain may take until the chat comes to rest. */
const mostRounds = 400

const limitsOf = (chance: () => number) => ({
  maxTurns: pick(chance, [1, 2, 3, 4]),
  maxChainRequests: pick(chance, [1, 2, 3, 6]),
  maxTreeChildren: pick(chance, [1, 2, 4, 8]),
  maxTreeRequests: pick(chance, [2, 4, 8, 16, 30]),
  tokens: cost * pick(chance, [2, 4, 8, 16, 1_000])
})
type Limits = ReturnType<typeof limitsOf>

/** What followed one input, or a few that a person sent before the chat was at rest. */
interface Caused {
  readonly done: Array<string>
  /** How often the counts began anew: once for each input, each renewal, each retry and each restart. */
  began: number
  /** How often a program ended: it may cut a request short, which nothing counts. */
  restarts: number
  cancelled: boolean
  /** The requests of the root, and those of each child by its task. */
  root: number
  readonly children: Map<string, number>
  /** The greatest number of children that ran at the same time. */
  parallel: number
  /** The number of children that began. */
  stored: number
  lastCalls: boolean
  readonly results: Array<Pick<ChatResult, "haltedReason" | "metadata">>
  /** The names of the turns that are not over, by their ids. */
  readonly open: Map<string, string>
  isAtRest: boolean
  halted: string | undefined
  waiting: number
  /** The requests that a cancel with tasks found, until the counts begin anew. */
  atCancel: number | undefined
}

const nothing = (): Caused => ({
  done: [],
  began: 0,
  restarts: 0,
  cancelled: false,
  root: 0,
  children: new Map(),
  parallel: 0,
  stored: 0,
  lastCalls: false,
  results: [],
  open: new Map(),
  isAtRest: false,
  halted: undefined,
  waiting: 0,
  atCancel: undefined
})

const requestsOf = ({ root, children }: Caused): number =>
  Array.from(children.values()).reduce((sum, count) => sum + count, root)

/** The counts begin anew. */
const begins = (one: Caused): void => {
  one.began += 1
  one.atCancel = undefined
}

const replies = ["pay", "crawl", "crawl", "quick", "research", "dig", "hand over", "text"] as const
const verbs = ["wait", "wait", "wait", "end", "end", "decide", "decide", "send", "steer", "cancel", "restart"] as const

const lived = async (seed: number) => {
  const chance = chanceOf("chains", seed)
  const limits = limitsOf(chance)
  const talk = pick(chance, [0.05, 0.2, 0.4])
  const isCalm = chance() < 0.5
  const pause = pausesBy(chanceOf("chains pauses", seed))
  const store = pausingLoads(memory(), pause)
  const all: Array<Caused> = []
  let now = nothing()
  let sent = 0
  let ends: Array<() => void> = []
  let place = 0

  const reply = ({ tools }: Request): { readonly script: Script; readonly isCall: boolean } => {
    const handoff = tools.find(({ name }) => name.startsWith("handoff_to_"))?.name
    const kinds = Array.from({ length: pick(chance, [1, 1, 2, 3]) }, () =>
      chance() < talk ? "text" : pick(chance, replies)
    )
    const names = kinds.flatMap((kind) => {
      if (kind === "text") return []
      if (kind === "hand over") return handoff ?? []
      return tools.some(({ name }) => name === kind) ? [kind] : []
    })
    place += 1
    if (names.length === 0)
      return { script: [{ usage: { totalTokens: cost } }, { text: "fine" }, { finish: "stop" }], isCall: false }
    const calls = names.map((name, call) => {
      const id = `r${place}c${call}`
      const input = name === "research" || name === "dig" ? { arguments: { input: `task ${id}` } } : {}
      return { toolCall: { id, name, ...input } }
    })
    return { script: [{ usage: { totalTokens: cost } }, ...calls, { finish: "tool_calls" }], isCall: true }
  }

  const begin = async () => {
    const tools = [
      tool({ name: "pay", execute: () => turnsOfLoop(Math.floor(chance() * 4)).then(() => "paid") }),
      tool({ name: "quick", effect: "read", execute: () => turnsOfLoop(Math.floor(chance() * 4)) }),
      tool({
        name: "crawl",
        background: true,
        effect: "read",
        execute: (_, { signal }) =>
          new Promise<string>((resolve, reject) => {
            if (chance() < 0.5) resolve("crawled")
            ends.push(() => resolve("crawled"))
            signal.addEventListener("abort", () => reject(signal.reason as Error))
          })
      }),
      subagent("research"),
      subagent("research", { name: "dig", background: true })
    ]
    const permissions = {
      ask: ({ toolCall: { name } }: { readonly toolCall: { readonly name: string } }) =>
        name === "pay" ? ("suspend" as const) : ("allow" as const)
    }
    const fake = check.fake({
      respond: (request) => {
        now.root += 1
        const { script, isCall } = reply(request)
        now.lastCalls = isCall
        return script
      }
    })
    const below = check.fake({
      respond: (request) => {
        const [first] = request.messages
        const task = first === undefined ? "" : text(first)
        now.children.set(task, (now.children.get(task) ?? 0) + 1)
        return reply(request).script
      }
    })
    const { maxTurns, tokens, ...others } = limits
    const own = { tools, permissions, maxTurns, budget: { tokens } }
    const adapter = pausing(fake, pause)
    const { troupe, system } = await check.troupe({
      adapter,
      agents: {
        a: { ...own, adapter, handoffs: ["b"] },
        b: { ...own, adapter, handoffs: ["a"] },
        research: { ...own, adapter: pausing(below, pause) }
      },
      agent: "a",
      store,
      drainMs: 0,
      maxUnproductive: 0,
      maxMistakes: 0,
      ...own,
      ...others
    })
    let running = 0
    const counts = (change: number) => (event: Telemetry.Event<"process.spawn" | "process.exit">) => {
      if (event.metadata.label.startsWith("Chat c/~/")) running += change
      now.parallel = Math.max(now.parallel, running)
    }
    Telemetry.attach(system, "process.spawn", counts(1))
    Telemetry.attach(system, "process.exit", counts(-1))
    return { troupe, chat: await troupe.chat("c") }
  }

  let program = await begin()
  const contextOf = () => program.chat.getSnapshot()?.context

  /** Notes a turn until it is over. */
  const settles = (name: string, turn: Pick<ChatTurn, "id" | "result">): void => {
    const { results, open } = now
    open.set(turn.id, name)
    const settled = turn.result().then(
      ({ haltedReason, metadata }) => results.push({ haltedReason, metadata }),
      () => undefined
    )
    void settled.then(() => open.delete(turn.id))
  }
  const say = (whenBusy: "queue" | "steer"): void => {
    begins(now)
    settles("send", program.chat.send(`m${sent++}`, { whenBusy }))
  }
  const decide = (): void => {
    const wait = anyOf(chance, contextOf()?.pendingApprovals ?? [])
    if (wait === undefined) return
    const renew = !isCalm && chance() < 0.1
    if (renew) begins(now)
    const decision =
      wait.kind === "permission"
        ? pick(chance, [{ type: "allow" }, { type: "allow" }, { type: "deny", reason: "no" }] as const)
        : ({ type: "result", value: "by hand" } as const)
    now.done.push(`${decision.type}${renew ? " renewed" : ""}`)
    settles("decide", program.chat.approve(wait.toolCall.id, decision, renew ? { renew } : {}))
  }
  const restart = async (): Promise<void> => {
    begins(now)
    now.restarts += 1
    await program.troupe.stop()
    ends = []
    program = await begin()
  }
  /** Whether a turn waits behind the running one, or behind a wait: a cancel of that one is not its end. */
  const hasNext = (): boolean => {
    const { turn, inbox = [] } = livingChatsOf(program.troupe).get("c")?.chat.context ?? {}
    return [...now.open.keys()].some((id) => id !== turn?.id) || !inbox.every(isRuntimeInput)
  }
  const cancel = async (): Promise<void> => {
    now.cancelled = true
    const runs = hasNext()
    await program.chat.cancel({ tasks: true })
    now.atCancel = runs ? undefined : requestsOf(now)
  }
  const does = async (verb: (typeof verbs)[number]): Promise<void> => {
    if (verb === "end") ends.shift()?.()
    else if (verb === "decide") decide()
    else if (verb === "wait" || isCalm || chance() < 0.6) return
    else if (verb === "send" || verb === "steer") say(verb === "send" ? "queue" : "steer")
    else if (verb === "restart") await restart()
    else await cancel()
    if (verb !== "decide") now.done.push(verb)
  }

  /** Ends each task and decides each wait, until nothing is left to do. */
  const rests = async (): Promise<boolean> => {
    for (let round = 0, still = 0; round < mostRounds; round++) {
      for (const end of ends.splice(0)) end()
      const context = contextOf()
      if (context?.phase === "interrupted") {
        begins(now)
        now.done.push("retry")
        settles("retry", program.chat.retry())
      } else if ((context?.pendingApprovals.length ?? 0) > 0) decide()
      const isBusy = context !== undefined && (context.phase !== "idle" || context.turn !== undefined)
      const isRunning =
        isBusy || now.open.size > 0 || (await program.chat.tasks()).some(({ status }) => status === "running")
      still = isRunning ? 0 : still + 1
      if (still === 4) return true
      await turnsOfLoop(12)
    }
    return false
  }

  const inputs = 1 + Math.floor(chance() * 3)
  let stored = 0
  for (let input = 0; input < inputs; input++) {
    now = nothing()
    all.push(now)
    say("queue")
    for (let step = Math.floor(chance() * 12); step > 0; step--) {
      await does(pick(chance, verbs))
      await turnsOfLoop(pick(chance, [0, 1, 3, 8, 30]))
    }
    if (program.chat.pid !== undefined) program.chat.resume()
    now.isAtRest = await rests()
    now.halted = contextOf()?.lastHaltedReason
    now.waiting = contextOf()?.inbox.length ?? 0
    const total = (await childrenIn(store)).length
    now.stored = total - stored
    stored = total
  }
  await program.troupe.stop()
  return { limits, all }
}

/** The limit that a halt names, and what it names it by. */
const namedBy = ({
  maxTurns,
  maxChainRequests,
  maxTreeRequests,
  tokens
}: Limits): Readonly<Record<string, object>> => ({
  max_turns: { maxTurns },
  max_chain_requests: { maxChainRequests },
  max_tree_requests: { maxTreeRequests },
  budget_tokens: { budget: tokens }
})

const laws = (one: Caused, limits: Limits): void => {
  const { maxTurns, maxChainRequests, maxTreeChildren, maxTreeRequests, tokens } = limits
  const { began, restarts, parallel, root, children, stored, halted, cancelled } = one
  expect([one.isAtRest, ...one.open.values()]).toEqual([true])

  const ofChat = (maxTurns + maxChainRequests) * began + restarts
  const all = requestsOf(one)
  const most: ReadonlyArray<readonly [name: string, count: number, most: number]> = [
    ["root", root, ofChat],
    ...Array.from(children, ([task, count]) => [task, count, ofChat] as const),
    ["maxTreeChildren", stored, maxTreeChildren * began],
    ["maxTreeRequests", all, (maxTreeRequests + parallel) * began],
    ["tokens", all * cost, (tokens + parallel * cost) * began + restarts * (1 + parallel) * cost]
  ]
  expect(most.filter(([, count, bound]) => count > bound)).toEqual([])

  // A cancel with tasks is the end of its chain.
  expect(one.atCancel ?? all).toBe(all)

  const named = namedBy(limits)
  for (const { haltedReason, metadata } of one.results) {
    const name = named[haltedReason]
    if (name !== undefined) expect(metadata).toMatchObject(name)
    else expect(["completed", "awaiting_approval", "cancelled"]).toContain(haltedReason)
  }
  const isLimit = halted !== undefined && halted in named
  // A model that has not ended its answer is halted by a limit.
  if (one.lastCalls && !cancelled) expect([halted, isLimit]).toEqual([halted, true])
  // The ends of tasks wait only when a limit or a person ended the chain.
  const isOver = (isLimit && halted !== "max_turns") || root >= maxChainRequests
  if (one.waiting > 0 && !cancelled) expect([halted, isOver]).toEqual([halted, true])
  const reached: Readonly<Record<string, boolean>> = {
    max_turns: root >= maxTurns,
    max_chain_requests: root >= maxChainRequests,
    max_tree_requests: all >= maxTreeRequests,
    budget_tokens: all * cost >= tokens
  }
  // A cancel may end an input before its turn begins.
  if (isLimit && (all > 0 || !cancelled)) expect([halted, reached[halted]]).toEqual([halted, true])
}

/** What is wrong with a program that ran; empty if nothing is. */
const findings = ({ limits, all }: Awaited<ReturnType<typeof lived>>): string => {
  try {
    for (const one of all) laws(one, limits)
    return ""
  } catch (error) {
    const lines = all.map((one) =>
      JSON.stringify({ ...one, children: Array.from(one.children), open: Array.from(one.open) })
    )
    return [String(error), JSON.stringify(limits), ...lines].join("\n")
  }
}

const seeds = seedsOf(500)
const parts = Array.from({ length: 8 }, (_, part) => seeds.filter((_seed, at) => at % 8 === part))

test.each(parts.map((own, part) => [part + 1, own] as const))(
  "CHAIN1, CHAIN2, CHAIN3, CHAIN4, CHAIN5, SUB13, SUB14, SUB15 all that one input causes keeps its limits and ends (part %i)",
  { timeout: 600_000 },
  async (_, own) => {
    for (const seed of own) expect(findings(await lived(seed)), `seed ${seed}`).toBe("")
  }
)
