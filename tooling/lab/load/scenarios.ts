/**
 * The scenarios of the load test: each returns its figures.
 *
 * LAB26. Each stream gets its share of the words, each word once; clients that stop reading hold up no reply.
 * LAB27. The heap of a server under load is flat: at most a tenth larger in the later half of the time.
 */
import { setTimeout as after } from "node:timers/promises"
import { until } from "../delays.ts"
import { type Crowd, crowdOf } from "./crowd.ts"
import { type Remote, type Report, startRemote } from "./remote.ts"
import type { Kind } from "./served.ts"

/** The size of the load. */
export interface Load {
  readonly clients: number
  readonly wordsPerSecond: number
  readonly seconds: number
  readonly profile?: string
}

/** The length of a reply; a client that has read one begins another conversation. */
const replySeconds = 10

const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Adds clients one after another. */
const join = async (crowd: Crowd, clients: number, everyMs = 0.5): Promise<void> => {
  const began = performance.now()
  for (let index = 0; index < clients; index++) {
    await crowd.join()
    const early = began + index * everyMs - performance.now()
    if (early > 1) await after(early)
  }
}

/** Waits until the condition holds or two minutes are up, and returns the last report. */
const settled = async (remote: Remote, holds: (report: Report) => boolean): Promise<Report> => {
  await until(async () => holds(await remote.call("report")), 120_000, 200)
  return remote.call("collect")
}

/** Measures for some time, then collects garbage on the server and returns its report. */
const measured = async (remote: Remote, crowd: Crowd, seconds: number) => {
  await after(2_000)
  const { cpuMs } = await remote.call("report")
  crowd.clear()
  const from = performance.now()
  await after(seconds * 1_000)
  const { delays, readers } = crowd
  const stayed = [...readers].filter(({ receivedAt = from }) => receivedAt < from)
  const leastWords = Math.min(...stayed.map(({ words }) => words))
  const longestMs = Math.max(...stayed.map((reader) => reader.longestMs))
  const spent = (await remote.call("report")).cpuMs - cpuMs
  return { delays, leastWords, longestMs, cpuMs: spent, heap: (await remote.call("collect")).heap }
}

/** The figures of streaming: all clients read at the pace of the words. The keys are the rows of the report. */
export const streaming = async (what: Kind, { clients, wordsPerSecond, seconds, profile }: Load) => {
  const remote = await startRemote(what, wordsPerSecond, wordsPerSecond * replySeconds, profile)
  let isOver = false
  const crowd: Crowd = crowdOf(remote.port, () => {
    if (!isOver) crowd.join().catch(() => {})
  })
  const before = await remote.call("collect")
  // Evenly over the time of a reply, so that the same number begins and ends in each second from then on.
  await join(crowd, clients, (replySeconds * 1_000) / clients)
  await settled(remote, ({ begun }) => begun >= clients)
  const first = await measured(remote, crowd, seconds / 2)
  const second = await measured(remote, crowd, seconds / 2)
  isOver = true
  crowd.all("destroy")
  await remote.call("end")
  await remote.close()
  const delays = [...first.delays, ...second.delays]
  const cpuMs = first.cpuMs + second.cpuMs
  return {
    events: delays.length,
    "delay, p50 (ms)": quantile(delays, 0.5) / 1_000,
    "delay, p99 (ms)": quantile(delays, 0.99) / 1_000,
    "delay, longest (ms)": quantile(delays, 1) / 1_000,
    "from coming to word 1, p50 (ms)": quantile(crowd.openings, 0.5),
    "from coming to word 1, p99 (ms)": quantile(crowd.openings, 0.99),
    "longest wait of a stream (ms)": Math.max(first.longestMs, second.longestMs),
    "least share of a stream (%)":
      (Math.min(first.leastWords, second.leastWords) / ((seconds / 2) * wordsPerSecond)) * 100,
    "processor (%)": cpuMs / (seconds * 10),
    "processor, an event (µs)": (cpuMs * 1_000) / delays.length,
    "heap, a stream (kB)": (second.heap - before.heap) / clients / 1_024,
    "heap, later to earlier half": second.heap / first.heap
  }
}

type Streaming = Awaited<ReturnType<typeof streaming>>

/** LAB26, LAB27 */
export const wrongStreaming = (bare: Streaming, own: Streaming): ReadonlyArray<string> => {
  const [share, growth] = [own["least share of a stream (%)"], own["heap, later to earlier half"]]
  return [
    ...(share > bare["least share of a stream (%)"] * 0.9
      ? []
      : [`LAB26: a stream got ${share.toFixed(0)} % of its words`]),
    ...(growth < 1.1 ? [] : [`LAB27: the heap has grown to ${growth.toFixed(2)} times its size`])
  ]
}

/** The memory of a server before, at a point of, and after a scenario. */
type Held = readonly [before: Report, middle: Report, after: Report]

/** All clients join, and something happens to them, until the server is quiet. */
const held = async (
  { clients, wordsPerSecond }: Load,
  seconds: number,
  happen: (remote: Remote, crowd: Crowd) => Promise<Report>
): Promise<Held> => {
  const remote = await startRemote("troupe", wordsPerSecond, wordsPerSecond * seconds)
  const crowd = crowdOf(remote.port)
  const before = await remote.call("collect")
  await join(crowd, clients)
  const middle = await happen(remote, crowd)
  const end = await settled(remote, ({ chats, open, sockets }) => chats + open + sockets === 0)
  await remote.close()
  return [before, middle, end]
}

/** All clients read a little and then stop, while the replies continue to their end; then all disconnect. */
export const stalling = (load: Load): Promise<Held> =>
  held(load, load.seconds, async (remote, crowd) => {
    crowd.all("pause")
    const report = await settled(remote, ({ begun, open }) => begun === load.clients && open === 0)
    crowd.all("destroy")
    return report
  })

/** All clients disconnect in the middle of a reply; then the replies end. */
export const vanishing = (load: Load): Promise<Held> =>
  held(load, 1_000, async (remote, crowd) => {
    await settled(remote, ({ begun }) => begun === load.clients)
    crowd.all("destroy")
    const report = await settled(remote, ({ sockets }) => sockets === 0)
    await remote.call("end")
    return report
  })
