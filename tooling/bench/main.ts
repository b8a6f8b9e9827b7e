/**
 * What Troupe costs beside plain async generators that wait for the same things, in the same run.
 *
 * `pnpm bench` prints one table; every figure is the median of the rounds, after one round to warm up.
 */
import { chatsOnGenerators, chatsOnTroupe, chatsOnValues } from "./chats.ts"
import { deltasOnGenerators, deltasOnTroupe, deltasOnValues } from "./deltas.ts"
import { measure } from "./measure.ts"

const chats = 1_000
const deltas = 50_000
const rounds = 5

const row = (name: string, value: string, beside: string) =>
  console.log(`${name.padEnd(46)}${value.padStart(12)}${beside.padStart(16)}`)

const compareChats = async (): Promise<void> => {
  console.log(`\n${chats} concurrent chats: 2 tool calls of 50 ms, then 50 deltas\n`)
  const baseline = await measure(rounds, () => chatsOnGenerators(chats))
  const values = await measure(rounds, () => chatsOnValues(chats))
  const living = await measure(rounds, () => chatsOnTroupe(chats))
  row("", "wall", "cpu")
  for (const [name, { wallMs, cpuMs }] of [
    ["plain async generators", baseline],
    ["Chat.stream on plain values", values],
    ["living chats under a supervisor", living]
  ] as const) {
    row(name, `${wallMs.toFixed(0)} ms`, `${cpuMs.toFixed(0)} ms`)
  }
  row(
    "Chat.stream, times the generators",
    (values.wallMs / baseline.wallMs).toFixed(2),
    (values.cpuMs / baseline.cpuMs).toFixed(2)
  )
  row(
    "living chats, times the generators",
    (living.wallMs / baseline.wallMs).toFixed(2),
    (living.cpuMs / baseline.cpuMs).toFixed(2)
  )
}

const compareDeltas = async (): Promise<void> => {
  console.log(`\none stream of ${deltas} deltas\n`)
  const baseline = await measure(rounds, () => deltasOnGenerators(deltas))
  const values = await measure(rounds, () => deltasOnValues(deltas))
  const living = await measure(rounds, () => deltasOnTroupe(deltas))
  const perDelta = (ms: number) => `${((ms * 1_000) / deltas).toFixed(3)} µs`
  row("", "per delta", "on top")
  row("plain async generator", perDelta(baseline.wallMs), "")
  row("Chat.stream on plain values", perDelta(values.wallMs), perDelta(values.wallMs - baseline.wallMs))
  row("a living chat", perDelta(living.wallMs), perDelta(living.wallMs - baseline.wallMs))
}

await compareChats()
await compareDeltas()
