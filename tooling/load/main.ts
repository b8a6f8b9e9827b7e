/**
 * `pnpm load [--clients N] [--rate N] [--seconds N] [--profile FOLDER]`: compares a server on loopback with many open
 * streams to one that uses Node alone; then clients stop reading, and clients disconnect. The exit code is 1 when a stream
 * was starved or something was not released.
 *
 * @module
 */
import { parseArgs } from "node:util"
import type { Report } from "./child.ts"
import { type Held, type Load, stalling, streaming, type Streamed, vanishing } from "./scenarios.ts"

const { values } = parseArgs({
  options: {
    clients: { type: "string", default: "2000" },
    rate: { type: "string", default: "20" },
    seconds: { type: "string", default: "15" },
    profile: { type: "string" },
    only: { type: "string" }
  }
})

const load: Load = {
  clients: Number(values.clients),
  wordsPerSecond: Number(values.rate),
  seconds: Number(values.seconds),
  profile: values.profile
}
const half: Load = { ...load, clients: Math.ceil(load.clients / 2) }

const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)

const row = (name: string, ...cells: ReadonlyArray<string>): string =>
  [name.padEnd(34), ...cells.map((cell) => cell.padStart(12))].join("")

const compared = (name: string, bare: number, own: number, digits = 1): string =>
  row(name, bare.toFixed(digits), own.toFixed(digits), `${(own / bare).toFixed(2)}x`)

/** The memory after the second half of the time, relative to the first half. */
const growth = ({ middle, end }: Streamed): number => end.heap / middle.heap

const streams = async (): Promise<boolean> => {
  const bare = await streaming("bare", load)
  const own = await streaming("troupe", load)
  console.log(`${load.clients} streams, ${load.wordsPerSecond} events a second each, ${load.seconds} s`)
  console.log(row("", "bare Node", "troupe", "ratio"))
  console.log(compared("events", bare.words, own.words, 0))
  console.log(compared("delay, p50 (ms)", bare.p50Ms, own.p50Ms, 2))
  console.log(compared("delay, p99 (ms)", bare.p99Ms, own.p99Ms, 2))
  console.log(compared("delay, longest (ms)", bare.maxMs, own.maxMs))
  console.log(compared("from coming to word 1, p50 (ms)", bare.openP50Ms, own.openP50Ms))
  console.log(compared("from coming to word 1, p99 (ms)", bare.openP99Ms, own.openP99Ms))
  console.log(compared("longest wait of a stream (ms)", bare.longestMs, own.longestMs, 0))
  console.log(compared("least share of a stream (%)", bare.leastShare * 100, own.leastShare * 100))
  console.log(compared("processor (%)", bare.cpuShare * 100, own.cpuShare * 100, 0))
  console.log(compared("processor, an event (µs)", bare.cpuMicrosOfWord, own.cpuMicrosOfWord))
  const heapOf = ({ before, end }: Streamed) => (end.heap - before.heap) / load.clients / 1_024
  console.log(compared("heap, a stream (kB)", heapOf(bare), heapOf(own)))
  console.log(compared("heap, later to earlier half", growth(bare), growth(own), 3))
  return own.leastShare > bare.leastShare * 0.9 && growth(own) < 1.1
}

const held = (title: string, { before, middle, after }: Held): void => {
  console.log(`\n${title}`)
  console.log(row("", "before", "then", "at the end"))
  const line = (name: string, show: (report: Report) => string) =>
    console.log(row(name, show(before), show(middle), show(after)))
  line("heap (MB)", ({ heap }) => megabytes(heap))
  line("memory of the process (MB)", ({ rss }) => megabytes(rss))
  line("sockets", ({ sockets }) => String(sockets))
  line("replies under way", ({ open }) => String(open))
  line("chats with a process", ({ chats }) => String(chats))
}

const isReleased = ({ after }: Held): boolean => after.sockets + after.open + after.chats === 0

const all: Readonly<Record<string, () => Promise<boolean>>> = {
  streams,
  stalled: async () => {
    const stalled = await stalling(half)
    held(`${half.clients} clients that stop reading; replies go on to their end, then the clients are gone`, stalled)
    return stalled.middle.open === 0 && isReleased(stalled)
  },
  vanished: async () => {
    const vanished = await vanishing(half)
    held(`${half.clients} clients that vanish in the middle of a reply; then the replies end`, vanished)
    return isReleased(vanished)
  }
}

let isGood = true
for (const [name, run] of Object.entries(all)) {
  if (values.only === undefined || values.only === name) isGood = (await run()) && isGood
}
process.exitCode = isGood ? 0 : 1
