/**
 * `pnpm load [--clients N] [--rate N] [--seconds N] [--profile FOLDER]`: compares a server on loopback with many open streams to one
 * that uses Node alone; then clients stop reading, and clients disconnect. The exit code is 1 when an invariant does not hold.
 *
 * @module
 */
import { wrongLeft } from "../check/counts.ts"
import { conclude, optionsOf } from "../command.ts"
import type { Report } from "./remote.ts"
import { type Load, stalling, streaming, vanishing, wrongStreaming } from "./scenarios.ts"

const defaults = { clients: 2_000, rate: 20, seconds: 15, profile: "", only: "" }
const { clients, rate: wordsPerSecond, seconds, profile, only } = optionsOf(defaults)
const load: Load = { clients, wordsPerSecond, seconds, profile }
const half: Load = { ...load, clients: Math.ceil(load.clients / 2) }

const row = (name: string, ...cells: ReadonlyArray<string>): void =>
  console.log([name.padEnd(34), ...cells.map((cell) => cell.padStart(12))].join(""))

const streams = async (): Promise<ReadonlyArray<string>> => {
  const bare = await streaming("bare", load)
  const own = await streaming("troupe", load)
  console.log(`${load.clients} streams, ${load.wordsPerSecond} events a second each, ${load.seconds} s`)
  row("", "bare Node", "troupe", "ratio")
  for (const [name, figure] of Object.entries(own)) {
    const other = bare[name as keyof typeof own]
    row(name, other.toFixed(2), figure.toFixed(2), `${(figure / other).toFixed(2)}x`)
  }
  return wrongStreaming(bare, own)
}

const lines: Readonly<Record<string, (report: Report) => string>> = {
  "heap (MB)": ({ heap }) => (heap / 2 ** 20).toFixed(1),
  "memory of the process (MB)": ({ rss }) => (rss / 2 ** 20).toFixed(1),
  sockets: ({ sockets }) => String(sockets),
  "replies under way": ({ open }) => String(open),
  "chats with a process": ({ chats }) => String(chats)
}

const held = (title: string, reports: Awaited<ReturnType<typeof stalling>>): ReadonlyArray<string> => {
  console.log(`\n${half.clients} clients that ${title}`)
  row("", "before", "then", "at the end")
  for (const [name, show] of Object.entries(lines)) row(name, ...reports.map(show))
  const [, , { sockets, open, chats }] = reports
  return wrongLeft({ sockets, "replies under way": open, "chats with a process": chats })
}

const all: Readonly<Record<string, () => Promise<ReadonlyArray<string>>>> = {
  streams,
  stalled: async () => {
    const reports = await stalling(half)
    const wrong = held("stop reading; replies go on to their end, then the clients are gone", reports)
    return reports[1].open === 0 ? wrong : [...wrong, "LAB26: clients that do not read hold up their replies"]
  },
  vanished: async () => held("vanish in the middle of a reply; then the replies end", await vanishing(half))
}

for (const [name, run] of Object.entries(all)) if (["", name].includes(only)) conclude(await run())
