/**
 * What Troupe costs beside plain async generators that wait for the same things, in the same run.
 *
 * `pnpm bench` prints the tables; every figure is the median of the rounds, after one round to warm up.
 */
import { chatsOnGenerators, chatsOnTroupe, chatsOnValues, type Pace } from "./chats.ts"
import { deltasOnGenerators, deltasOnTroupe, deltasOnValues } from "./deltas.ts"
import { measure } from "./measure.ts"

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

const compareDeltas = async (): Promise<void> => {
  console.log(`\none stream of ${deltas} deltas\n`)
  const baseline = await measure(rounds, () => deltasOnGenerators(deltas))
  const values = await measure(rounds, () => deltasOnValues(deltas))
  const living = await measure(rounds, () => deltasOnTroupe(deltas))
  const perDelta = (ms: number) => `${((ms * 1_000) / deltas).toFixed(3)} µs`
  row("", "a delta", "on top")
  row("plain async generator", perDelta(baseline.wallMs), "")
  row("Chat.stream on plain values", perDelta(values.wallMs), perDelta(values.wallMs - baseline.wallMs))
  row("a living chat", perDelta(living.wallMs), perDelta(living.wallMs - baseline.wallMs))
}

await compareChats("at once")
await compareChats("by turns")
await compareDeltas()
