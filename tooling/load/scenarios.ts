/** The scenarios of the load test, and their results. */
import { setTimeout as after } from "node:timers/promises"
import type { Report } from "./child.ts"
import { Crowd } from "./crowd.ts"
import { Remote } from "./remote.ts"

export type Kind = "bare" | "troupe"

/** The size of the load. */
export interface Load {
  readonly clients: number
  readonly wordsPerSecond: number
  readonly seconds: number
  readonly profile?: string | undefined
}

/** The length of a reply; a client that has read one begins another conversation. */
const replySeconds = 10

/** The result of the streaming scenario. */
export interface Streamed {
  readonly words: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** From a client's start to its first word. */
  readonly openP50Ms: number
  readonly openP99Ms: number
  /** The smallest share of its words that a client received. */
  readonly leastShare: number
  readonly longestMs: number
  readonly cpuShare: number
  readonly cpuMicrosOfWord: number
  readonly before: Report
  /** After the first half of the time, and after the second. */
  readonly middle: Report
  readonly end: Report
}

const quantile = (sorted: Float64Array, share: number): number =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) / 1_000

/** Adds clients one after another. */
const join = async (crowd: Crowd, remote: Remote, clients: number, everyMs = 0.5): Promise<void> => {
  const began = performance.now()
  for (let index = 0; index < clients; index++) {
    await crowd.join(remote.port, remote.path(index), remote.body)
    const early = began + index * everyMs - performance.now()
    if (early > 1) await after(early)
  }
}

/** Waits until the condition holds or the time is up, and returns the last report. */
const settled = async (remote: Remote, holds: (report: Report) => boolean, withinMs = 120_000): Promise<Report> => {
  const until = performance.now() + withinMs
  while (!holds(await remote.look()) && performance.now() < until) await after(200)
  return remote.report()
}

/** Measures for some time, then collects garbage on the server and returns its report. */
const measured = async (remote: Remote, crowd: Crowd, seconds: number) => {
  await after(2_000)
  const { cpuMs } = await remote.look()
  crowd.clear()
  const from = performance.now()
  await after(seconds * 1_000)
  const { delays, readers } = crowd
  const stayed = [...readers].filter(({ receivedAt = from }) => receivedAt < from)
  const leastWords = Math.min(...stayed.map(({ words }) => words))
  const longestMs = Math.max(...stayed.map((reader) => reader.longestMs))
  const spent = (await remote.look()).cpuMs - cpuMs
  return { delays, leastWords, longestMs, cpuMs: spent, report: await remote.report() }
}

/** All clients read at the pace of the words. */
export const streaming = async (what: Kind, load: Load): Promise<Streamed> => {
  const { clients, wordsPerSecond, seconds, profile } = load
  const words = wordsPerSecond * replySeconds
  const remote = await Remote.start({ type: "serve", what, wordsPerSecond, words }, profile)
  let last = clients
  let isOver = false
  const crowd: Crowd = new Crowd(() => {
    if (!isOver) crowd.join(remote.port, remote.path(last++), remote.body).catch(() => {})
  })
  const before = await remote.report()
  // Evenly over the time of a reply, so that the same number begins and ends in each second from then on.
  await join(crowd, remote, clients, (replySeconds * 1_000) / clients)
  await settled(remote, ({ begun }) => begun >= clients)
  const first = await measured(remote, crowd, seconds / 2)
  const second = await measured(remote, crowd, seconds / 2)
  const sorted = Float64Array.from([...first.delays, ...second.delays]).toSorted()
  const openings = Float64Array.from(crowd.openings).toSorted()
  const streamed: Streamed = {
    words: sorted.length,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    maxMs: quantile(sorted, 1),
    openP50Ms: quantile(openings, 0.5) * 1_000,
    openP99Ms: quantile(openings, 0.99) * 1_000,
    leastShare: Math.min(first.leastWords, second.leastWords) / ((seconds / 2) * wordsPerSecond),
    longestMs: Math.max(first.longestMs, second.longestMs),
    cpuShare: (first.cpuMs + second.cpuMs) / (seconds * 1_000),
    cpuMicrosOfWord: ((first.cpuMs + second.cpuMs) * 1_000) / sorted.length,
    before,
    middle: first.report,
    end: second.report
  }
  isOver = true
  crowd.vanish()
  await remote.end()
  await remote.close()
  return streamed
}

/** The memory of a server at points of a scenario. */
export interface Held {
  readonly before: Report
  readonly middle: Report
  readonly after: Report
}

/** All clients read a little and then stop, while the replies continue to their end; then all disconnect. */
export const stalling = async (load: Load): Promise<Held> => {
  const { clients, wordsPerSecond, seconds } = load
  const words = wordsPerSecond * seconds
  const remote = await Remote.start({ type: "serve", what: "troupe", wordsPerSecond, words })
  const crowd = new Crowd()
  const before = await remote.report()
  await join(crowd, remote, clients)
  crowd.stall()
  const middle = await settled(remote, ({ begun, open }) => begun === clients && open === 0)
  crowd.vanish()
  const end = await settled(remote, ({ chats, sockets }) => chats + sockets === 0)
  await remote.close()
  return { before, middle, after: end }
}

/** All clients disconnect in the middle of a reply. */
export const vanishing = async (load: Load): Promise<Held> => {
  const { clients, wordsPerSecond } = load
  const words = wordsPerSecond * 1_000
  const remote = await Remote.start({ type: "serve", what: "troupe", wordsPerSecond, words })
  const crowd = new Crowd()
  const before = await remote.report()
  await join(crowd, remote, clients)
  await settled(remote, ({ begun }) => begun === clients)
  crowd.vanish()
  const middle = await settled(remote, ({ sockets }) => sockets === 0)
  await remote.end()
  const end = await settled(remote, ({ chats, open }) => chats + open === 0)
  await remote.close()
  return { before, middle, after: end }
}
