/**
 * Links to an observer and a chat that hold what a test puts there: a system of a chat whose step runs two calls.
 */
import type { Observation } from "@troupe/chat/observe"
import type { Store } from "@troupe/chat/store"
import { ChatView } from "@troupe/chat/view"
import type { ChatLink } from "@troupe/server"

/** Something that is watched, and can be changed. */
export class Watchable<A> implements Observation.Watched<A> {
  #state: A | undefined
  #error: Error | undefined
  readonly #watchers = new Set<() => void>()

  constructor(state?: A) {
    this.#state = state
  }

  get watchers(): number {
    return this.#watchers.size
  }

  readonly getState = (): A | undefined => this.#state

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#watchers.add(changed)
    return () => void this.#watchers.delete(changed)
  }

  readonly getError = (): Error | undefined => this.#error

  /** What is watched is no longer reached. */
  fail(error: Error): void {
    this.#error = error
    for (const changed of this.#watchers) changed()
  }

  put(state: A): void {
    this.#state = state
    for (const changed of this.#watchers) changed()
  }
}

type NodeParts = Partial<Observation.ProcessNode> & Pick<Observation.ProcessNode, "id" | "label">

/** A node that rests, but for what is said of it. */
export const node = (parts: NodeParts): Observation.ProcessNode => ({
  kind: "server",
  status: "idle",
  queueLength: 0,
  memory: 1200,
  children: [],
  ...parts
})

/** A tree of a chat; `chat` is the pid of its process. */
export const treeWith = (chat = "<0.7.0>"): Observation.Observed => {
  const below = Number(/\.(\d+)\./.exec(chat)?.[1] ?? 0)
  const calls = [
    node({ id: `<0.${below + 3}.0>`, label: "search_flights", kind: "task", status: "busy", memory: 18_420 }),
    node({ id: `<0.${below + 4}.0>`, label: "weather", kind: "task", status: "busy", memory: 3_100 })
  ]
  const batch = node({ id: `<0.${below + 2}.0>`, label: "ToolBatch", kind: "machine", children: calls, memory: 9_800 })
  const step = node({ id: `<0.${below + 1}.0>`, label: "Step", kind: "machine", children: [batch], memory: 24_100 })
  const one = node({
    id: chat,
    label: "Chat trip-to-lisbon",
    kind: "machine",
    status: "queued",
    queueLength: 3,
    memory: 184_200,
    chat: "trip-to-lisbon",
    children: [step]
  })
  const other = node({ id: "<0.6.0>", label: "Chat budget-2027", kind: "machine", chat: "budget-2027", memory: 61_000 })
  const tree = node({
    id: "<0.1.0>",
    label: "Troupe",
    kind: "supervisor",
    restarts: 0,
    memory: 5_200,
    children: [
      node({ id: "<0.2.0>", label: "Registry", name: "troupe.registry", kind: "registry", memory: 2_400 }),
      node({ id: "<0.3.0>", label: "Store", name: "troupe.store", status: "running", memory: 812_000 }),
      node({ id: "<0.4.0>", label: "ChatSupervisor", kind: "supervisor", restarts: 2, children: [other, one] }),
      node({ id: "<0.5.0>", label: "Sweeper", status: "suspended", memory: 900 })
    ]
  })
  return { at: 12_000, processes: 11, tree: [tree], zombies: 1, crashes: 2, restarts: 2, deadLetters: 0 }
}

/** What is seen of a process of a tree. */
const detailOf = (
  found: Observation.ProcessNode,
  parts: Partial<Observation.ProcessDetail> = {}
): Observation.ProcessDetail => {
  const { children, hidden: _hidden, ...plain } = found
  return {
    ...plain,
    alive: true,
    mailbox: found.queueLength > 0 ? ["{ type: 'turn.start', delivery: 'queue' }", "{ type: 'turn.cancel' }"] : [],
    state:
      "{\n  steps: 2,\n  retries: 0,\n  haltedReason: undefined,\n  usage: { inputTokens: 18204, outputTokens: 1311 }\n}",
    links: ["<0.4.0>", ...children.map(({ id }) => id)],
    monitors: ["<0.2.0>"],
    handled: 1_284,
    busyMs: 412,
    recent: [
      { at: 9_100, event: "received", detail: "turn.start" },
      { at: 9_102, event: "handled", detail: "turn.start in 1.8 ms" },
      { at: 11_480, event: "sent", detail: "step.cancel to <0.8.0>" },
      { at: 11_950, event: "received", detail: "xstate.done.actor.step" }
    ],
    ...parts
  }
}

const span = (
  id: string,
  kind: Observation.Span["kind"],
  label: string,
  from: number,
  to: number | undefined,
  outcome?: string
): Observation.Span => ({ id, kind, label, from, to, outcome })

/** Two turns of a chat: one over, one that goes on. */
export const spans: ReadonlyArray<Observation.Span> = [
  span("1", "turn", "Hi, plan a trip", 1_000, 2_400, "completed"),
  span("1.1.stream", "stream", "claude-opus", 1_010, 2_390, "stop"),
  span("2", "turn", "Find flights to Lisbon and check the weather", 4_000, undefined),
  span("2.1.stream", "stream", "claude-opus", 4_020, 5_300, "tool_calls"),
  span("2.1.0.queue", "queue", "search_flights", 5_310, 5_340),
  span("2.1.0.call.5340", "call", "search_flights", 5_340, 9_200),
  span("2.1.1.queue", "queue", "weather", 5_310, 6_100),
  span("2.1.1.call.6100", "call", "weather", 6_100, 7_400, "completed"),
  span("2.1.2.queue", "queue", "crawl", 5_310, 5_360),
  span("2.1.2.call.5360", "call", "crawl", 5_360, 7_900, "cancelled"),
  span("2.1.2.drain.5360", "drain", "crawl", 7_900, 8_900, "abandoned"),
  span("zombie.c3.8900", "zombie", "crawl", 8_900, undefined),
  span("2.2.stream", "stream", "claude-opus", 9_260, undefined)
]

const resting: Store.Commit["state"] = {
  usage: {},
  running: false,
  pendingToolCalls: [],
  lastHaltedReason: "completed"
}

/** A log: two turns, a rewind, and what was said instead. */
export const commits: ReadonlyArray<Store.Commit> = [
  commit(1, [{ role: "user", content: "Hi, plan a trip" }], { ...resting, running: true }),
  commit(2, [{ role: "assistant", content: "Gladly. Where to, and when?" }], resting),
  commit(3, [{ role: "user", content: "Porto, in March" }], { ...resting, running: true }),
  commit(4, [{ role: "assistant", content: "Porto in March is mild and rainy." }], resting),
  { ...commit(5, [], resting), kind: "rewound", from: { id: "trip-to-lisbon", seq: 2 }, kept: 2 },
  commit(6, [{ role: "user", content: "Find flights to Lisbon and check the weather" }], { ...resting, running: true }),
  {
    ...commit(
      7,
      [
        {
          role: "assistant",
          content: "",
          toolCalls: [
            { id: "c1", name: "search_flights", arguments: { to: "LIS" } },
            { id: "c2", name: "weather", arguments: { city: "Lisbon" } }
          ]
        }
      ],
      { ...resting, running: true }
    ),
    isStep: false
  }
]

function commit(seq: number, messages: Store.Commit["messages"], state: Store.Commit["state"]): Store.Commit {
  return { seq, at: Date.UTC(2027, 2, 14, 9, 30, seq * 7), kind: "saved", kept: seq - 1, messages, state, isStep: true }
}

const flat = (nodes: ReadonlyArray<Observation.ProcessNode>): ReadonlyArray<Observation.ProcessNode> =>
  nodes.flatMap((one) => [one, ...flat(one.children)])

/** An observer whose tree, processes and timeline are put there. */
export const observerDouble = (first: Observation.Observed | undefined = treeWith()) => {
  const tree = new Watchable(first)
  const processes = new Map<string, Watchable<Observation.ProcessDetail>>()
  const timeline = new Watchable<Observation.Timeline>({ chat: "trip-to-lisbon", at: 12_000, spans })
  const killed: Array<string> = []
  const charts: Readonly<Record<string, Observation.ProcessDetail["chart"]>> = {
    "Chat trip-to-lisbon": { machine: "chat", value: { running: "phaseA" } },
    "Chat budget-2027": { machine: "chat", value: "idle" },
    search_flights: { machine: "toolCall", value: "running" },
    weather: { machine: "toolCall", value: "cancelling" }
  }
  const process = (id: string): Watchable<Observation.ProcessDetail> => {
    const known = processes.get(id)
    if (known !== undefined) return known
    const found = flat(tree.getState()?.tree ?? []).find((one) => one.id === id)
    const chart = found && charts[found.label]
    const watched = new Watchable(found && detailOf(found, chart === undefined ? {} : { chart }))
    processes.set(id, watched)
    return watched
  }
  const link: Observation.Observation = {
    tree,
    process,
    timeline: () => timeline,
    kill: async (id) => void killed.push(id)
  }
  return { link, tree, process, timeline, killed }
}

const view: ChatView.ChatView = {
  ...ChatView.of("trip-to-lisbon", undefined),
  messages: [{ role: "user", content: "Hello" }],
  usage: {
    inputTokens: 18_204,
    cachedInputTokens: 12_800,
    outputTokens: 1_311,
    reasoningTokens: 420,
    totalTokens: 19_515
  }
}

const refused = (): Promise<never> => Promise.reject(new Error("not in this double"))

/** A chat with a log; forks and rewinds are noted, and a rewind adds its entry. */
export const chatDouble = (log: ReadonlyArray<Store.Commit> = commits) => {
  const state = new Watchable<ChatLink.LinkState>({ view, status: "open", error: undefined })
  const asked: Array<string> = []
  let kept = log
  const link: ChatLink.ChatLink = {
    id: view.id,
    getState: () => state.getState() ?? { view, status: "closed", error: undefined },
    subscribe: state.subscribe,
    history: async ({ after = 0, limit = 50 } = {}) => kept.filter(({ seq }) => seq > after).slice(0, limit),
    fork: async ({ at = 0 } = {}) => {
      asked.push(`fork ${at}`)
      return "forked-1"
    },
    rewind: async (seq) => {
      asked.push(`rewind ${seq}`)
      const next = kept.length + 1
      kept = [...kept, { ...commit(next, [], resting), kind: "rewound", from: { id: view.id, seq } }]
    },
    send: refused,
    cancel: refused,
    withdraw: refused,
    compact: refused,
    retry: refused,
    resume: refused,
    approve: refused,
    answer: refused,
    submitToolResults: refused,
    cancelToolCall: refused,
    restartToolCall: refused,
    cancelTask: refused,
    setPermissionMode: refused,
    handoff: refused
  }
  return { link, state, asked }
}
