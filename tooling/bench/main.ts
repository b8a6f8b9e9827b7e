/**
 * Troupe's cost, compared with the same work without Troupe, in the same run.
 *
 * `pnpm bench` prints all tables, `pnpm bench otp` those of processes, `pnpm bench chat` those of chats beside plain async
 * generators with the same waits: medians of the rounds, after one round to warm up.
 */
import { chatsOnGenerators, chatsOnTroupe, chatsOnValues, type Pace } from "./chats.ts"
import { crowd, deltasWithReaders, deltasWithSubscribers } from "./crowd.ts"
import { deltasInPackets, deltasOnGenerators, deltasOnTroupe, deltasOnValues, packet } from "./deltas.ts"
import { measure } from "./measure.ts"
import { benchProcesses } from "./otp/table.ts"

const chats = 1_000
const deltas = 50_000
const rounds = 5

const row = (name: string, ...figures: ReadonlyArray<string>) =>
  console.log(name.padEnd(36) + figures.map((figure) => figure.padStart(14)).join(""))

const compareChats = async (pace: Pace): Promise<void> => {
  console.log(`\n${chats} concurrent chats: 2 tool calls of 50 ms, then 50 deltas ${pace}\n`)
  const baseline = await measure(rounds, () => chatsOnGenerators(chats, pace))
  const values = await measure(rounds, () => chatsOnValues(chats, pace))
  const living = await measure(rounds, () => chatsOnTroupe(chats, pace))
  row("", "wall", "× generators", "cpu a chat")
  for (const [name, { wallMs, cpuMs }] of [
    ["plain async generators", baseline],
    ["Chat.stream on plain values", values],
    ["living chats under a supervisor", living]
  ] as const) {
    const perChat = `${((cpuMs * 1_000) / chats).toFixed(0)} µs`
    row(name, `${wallMs.toFixed(0)} ms`, (wallMs / baseline.wallMs).toFixed(2), perChat)
  }
}

const compareWatchers = async (): Promise<void> => {
  console.log(`\n${chats} concurrent living chats, as above by turns, by what an observer watches\n`)
  row("watched", "wall", "cpu a chat")
  for (const watched of ["nothing", "the tree", "all it can"] as const) {
    const { wallMs, cpuMs } = await measure(rounds, () => chatsOnTroupe(chats, "by turns", watched))
    row(watched, `${wallMs.toFixed(0)} ms`, `${((cpuMs * 1_000) / chats).toFixed(0)} µs`)
  }
}

const compareDeltas = async (): Promise<void> => {
  console.log(`\none stream of ${deltas} deltas\n`)
  const baseline = await measure(rounds, () => deltasOnGenerators(deltas))
  const values = await measure(rounds, () => deltasOnValues(deltas))
  const packets = await measure(rounds, () => deltasInPackets(deltas))
  const living = await measure(rounds, () => deltasOnTroupe(deltas))
  const perDelta = (ms: number) => `${((ms * 1_000) / deltas).toFixed(3)} µs`
  row("", "a delta", "on top")
  row("plain async generator", perDelta(baseline.wallMs), "")
  row("Chat.stream on plain values", perDelta(values.wallMs), perDelta(values.wallMs - baseline.wallMs))
  row(`the same, ${packet} deltas at once`, perDelta(packets.wallMs), perDelta(packets.wallMs - baseline.wallMs))
  row("a living chat", perDelta(living.wallMs), perDelta(living.wallMs - baseline.wallMs))
}

const compareSubscribers = async (): Promise<void> => {
  console.log(
    `\none answer of ${deltas} deltas in a living chat nobody reads, by how many subscribe to its snapshots\n`
  )
  row("subscribers", "a delta")
  for (const subscribers of [0, 1, 10]) {
    const { wallMs } = await measure(rounds, () => deltasWithSubscribers(deltas, subscribers))
    row(`${subscribers}`, `${((wallMs * 1_000) / deltas).toFixed(3)} µs`)
  }
}

const compareReaders = async (): Promise<void> => {
  console.log(`\none answer of ${deltas} deltas in a living chat, by how many are attached to it\n`)
  row("attached", "a delta")
  const cases = [
    [0, "at once"],
    [1, "at once"],
    [10, "at once"],
    [10, "later"]
  ] as const
  for (const [readers, reads] of cases) {
    const { wallMs } = await measure(rounds, () => deltasWithReaders(deltas, readers, reads))
    const name = readers === 0 ? "0" : `${readers}, who read ${reads}`
    row(name, `${((wallMs * 1_000) / deltas).toFixed(3)} µs`)
  }
}

const compareCrowds = async (): Promise<void> => {
  console.log(
    "\nliving chats at once, each of 2 turns with 2 tool calls of 10 ms: linear if the columns per chat stay\n"
  )
  row("chats", "wall", "cpu a chat", "peak heap", "peak a chat", "idle a chat")
  await crowd(100)
  for (const count of [100, 1_000, 10_000]) {
    const { wallMs, cpuMs, peakMb, idleMb } = await crowd(count)
    const each = (mb: number) => `${((mb * 1_000) / count).toFixed(1)} kB`
    const cpu = `${((cpuMs * 1_000) / count).toFixed(0)} µs`
    row(`${count}`, `${wallMs.toFixed(0)} ms`, cpu, `${peakMb.toFixed(0)} MB`, each(peakMb), each(idleMb))
  }
}

const benchChats = async (): Promise<void> => {
  await compareChats("at once")
  await compareChats("by turns")
  await compareWatchers()
  await compareDeltas()
  await compareSubscribers()
  await compareReaders()
  await compareCrowds()
}

const benches: Readonly<Record<string, () => Promise<void>>> = { otp: benchProcesses, chat: benchChats }

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => benches[name] === undefined)

if (unknown.length > 0) {
  console.error(
    `no bench is called ${unknown.join(" or ")}: name ${Object.keys(benches).join(" or ")}, or none for all`
  )
  process.exitCode = 1
} else {
  for (const name of chosen.length === 0 ? Object.keys(benches) : chosen) await benches[name]?.()
}
