/**
 * The end of a home in the middle of replies that stream, as the readers see it.
 *
 * A reply begins with the number of its process, so a reader sees the first word of the next home.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout as pause } from "node:timers/promises"
import { Message } from "@troupe/chat/messages"
import type { ChatView } from "@troupe/chat/view"
import { connect } from "@troupe/server/Client"
import { queries } from "../../../packages/store/test/double/queries.ts"
import type { Asked } from "./model.ts"
import { type BenchCluster, idsAt, placed } from "./nodes.ts"
import type { NodeProcess } from "./process.ts"
import { firstWord, inputOf } from "./turn.ts"

const chats = 8
const asked: Asked = { words: 60, pauseMs: 50 }
const lookMs = 5
const patienceMs = 60_000

/**
 * What a failure cost: the first word elsewhere of the last chat, in milliseconds, and a number of wrong things. `lateMs` is
 * how late the reader's own event loop was at most meanwhile, which shows a busy machine.
 */
export interface Failure {
  readonly firstWordMs: number
  readonly lateMs: number
  readonly wrong: number
}

type Watched = Awaited<ReturnType<typeof streaming>>[number]

let begun = 0

const until = async (holds: () => boolean, what: string): Promise<void> => {
  const end = performance.now() + patienceMs
  while (!holds()) {
    if (performance.now() > end) throw new Error(`after ${patienceMs} ms: no ${what}`)
    await pause(lookMs)
  }
}

/** The number of the process whose reply a view has. */
const speakerOf = ({ messages, partial }: ChatView.ChatView): number => {
  const last = messages.findLast(({ role }) => role !== "tool")
  const text = partial.text !== "" || last?.role !== "assistant" ? partial.text : Message.text(last)
  return Number(/^(?<pid>\d+) /u.exec(text)?.groups?.["pid"] ?? 0)
}

const post = (node: NodeProcess, id: string, input: string): Promise<Response> =>
  fetch(`${node.base}/chats/${id}/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: inputOf(asked, input)
  })

/** Begins a reply in each of some chats of a home, read through another node; `inputs` are sent one after another. */
const streaming = async (home: NodeProcess, through: NodeProcess, inputs: ReadonlyArray<string>) => {
  const ids = await idsAt(home, `failing${++begun}-`, chats)
  const link = connect({ url: through.base })
  const watched = ids.map((id) => {
    const chat = link.chat(id)
    return { id, view: () => chat.getState().view, leave: chat.subscribe(() => {}) }
  })
  for (const input of inputs) {
    const answers = await Promise.all(ids.map((id) => post(through, id, input)))
    if (answers.some(({ status }) => status !== 202)) throw new Error("an input was refused")
  }
  await until(() => watched.every(({ view }) => speakerOf(view()) === home.pid), "first word")
  return watched
}

/** Waits until each chat has a word of another process, and returns the time since. */
const elsewhere = async (
  watched: ReadonlyArray<Watched>,
  former: number,
  since: number
): Promise<Pick<Failure, "firstWordMs" | "lateMs">> => {
  const delay = monitorEventLoopDelay()
  delay.enable()
  await until(() => watched.every(({ view }) => ![0, former].includes(speakerOf(view()))), "first word elsewhere")
  delay.disable()
  return { firstWordMs: performance.now() - since, lateMs: delay.max / 1e6 }
}

/** Waits until all turns are over, and counts the inputs that have no single complete answer. */
const settled = async (watched: ReadonlyArray<Watched>, inputs: number): Promise<number> => {
  const answers = ({ messages }: ChatView.ChatView): ReadonlyArray<string> =>
    messages.filter(({ role }) => role === "assistant").map(Message.text)
  const isOver = ({ view }: Watched): boolean => view().phase === "idle" && answers(view()).length >= inputs
  await until(() => watched.every(isOver), "end of all turns")
  for (const { leave } of watched) leave()
  const wrong = watched.map(({ view }) => {
    const { messages } = view()
    const whole = answers(view()).filter((text) => text.trim().split(" ").length === asked.words)
    return Math.abs(whole.length - inputs) + Math.abs(messages.filter(({ role }) => role === "user").length - inputs)
  })
  return wrong.reduce((sum, count) => sum + count, 0)
}

/** Lets the first home fail while it streams replies, and waits until all turns have ended elsewhere. */
const failing = async (cluster: BenchCluster, inputs: ReadonlyArray<string>, fail: (home: NodeProcess) => unknown) => {
  const [home] = cluster.homes as readonly [NodeProcess]
  const watched = await streaming(home, cluster.gateway, inputs)
  const { pid } = home
  const since = performance.now()
  const ending = fail(home)
  const measured = await elsewhere(watched, pid, since)
  return { home, ending, failure: { ...measured, wrong: await settled(watched, inputs.length) } }
}

/** Ends the first home by a signal. With SIGTERM each chat has one more input that waits. */
export const ended = async (cluster: BenchCluster, signal: "SIGKILL" | "SIGTERM"): Promise<Failure> => {
  const inputs = signal === "SIGTERM" ? ["first", "second"] : ["first"]
  const { home, ending, failure } = await failing(cluster, inputs, (one) => one.end(signal))
  await ending
  await home.start()
  await placed(cluster.homes)
  return failure
}

/** Freezes the first home until all turns have ended elsewhere; `wrong` counts the tables that its wake changed. */
export const frozen = async (cluster: BenchCluster, leaseMs: number): Promise<Failure> => {
  const { home, failure } = await failing(cluster, ["first"], (one) => one.signal("SIGSTOP"))
  const before = await contents(cluster.url)
  home.signal("SIGCONT")
  await placed(cluster.homes)
  await pause(leaseMs)
  const after = await contents(cluster.url)
  return { ...failure, wrong: failure.wrong + before.filter((table, index) => table !== after[index]).length }
}

/** The contents of each table that the store writes for a chat. */
const contents = async (url: string): Promise<ReadonlyArray<unknown>> => {
  const tables = ["chats", "commits", "items", "drafts", "inbox"]
  const columns = tables.map(
    (name) => `(SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM troupe.${name} AS t)`
  )
  const [row] = await queries(url, [`SELECT ARRAY[${columns.join(", ")}]::text[] AS contents`])
  return row?.["contents"] as ReadonlyArray<unknown>
}

/** Kills one process, starts it again at once, and retries each chat; the first word of the last one. */
export const restarted = async (alone: NodeProcess): Promise<number> => {
  const watched = await streaming(alone, alone, ["first"])
  for (const { leave } of watched) leave()
  const since = performance.now()
  await alone.end("SIGKILL")
  await alone.start()
  const startedMs = performance.now() - since
  const words = await Promise.all(watched.map(({ id }) => firstWord(`${alone.base}/chats/${id}/retry`, "{}")))
  return startedMs + Math.max(...words)
}
