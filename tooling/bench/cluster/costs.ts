/** What a turn, a token and an idle chat cost, with and without a second node. */
import { setTimeout as pause } from "node:timers/promises"
import { median } from "../work/timed.ts"
import type { Asked } from "./model.ts"
import { idsAt, type Way } from "./nodes.ts"
import type { NodeProcess } from "./process.ts"
import { together, turn } from "./turn.ts"

let begun = 0

/** The prefix of chats that no other measurement has. */
const prefix = (): string => `cost${++begun}-`

const atOnce = 8
const short: Asked = { words: 20, pauseMs: 0 }
const firstTokens = 100
const streams = 40
const streamed: Asked = { words: 300, pauseMs: 10 }
/** Of the turns that are counted, this many at once are sent for each home, each time in one conversation. */
const atOnceEach = 8
const turnsInChat = 10
const idle = 2_000

/** The processor time of all nodes of a way during the work, in milliseconds. */
const cpuOf = async ({ gateway, homes }: Way, work: () => Promise<unknown>): Promise<number> => {
  const sum = async (): Promise<number> => {
    const each = await Promise.all([...new Set([gateway, ...homes])].map((node) => node.cpuMs()))
    return each.reduce((total, ms) => total + ms, 0)
  }
  const before = await sum()
  await work()
  return (await sum()) - before
}

/** So many new chats of the only home of a way. */
const chatsOf = ({ gateway, homes: [home = gateway] }: Way, count: number) => idsAt(home, prefix(), count)

/** The median time to the first word of a turn, in milliseconds, for each way. They take turns. */
export const firstTokenMs = async (ways: ReadonlyArray<Way>): Promise<ReadonlyArray<number>> => {
  const ids = await Promise.all(ways.map((way) => chatsOf(way, firstTokens)))
  const times = ways.map((): Array<number> => [])
  for (let index = 0; index < firstTokens; index++) {
    for (const [at, { gateway }] of ways.entries()) {
      times[at]?.push(await turn(gateway, ids[at]?.[index] ?? "", { words: 2, pauseMs: 1 }))
    }
  }
  return times.map(median)
}

/** The processor time of a streamed token, in microseconds. */
export const tokenUs = async (way: Way): Promise<number> => {
  const ids = await chatsOf(way, streams)
  const work = () =>
    together({ times: streams, atOnce: streams }, (index) => turn(way.gateway, ids[index] ?? "", streamed))
  return ((await cpuOf(way, work)) * 1_000) / (streams * streamed.words)
}

/** The chat of a client's turn: most turns are in a chat that exists, and no chat becomes long. */
const chatOf = (chat: string, client: number, index: number): string =>
  `${chat}${client}-${Math.floor(index / turnsInChat)}`

/** The processor time of a turn in milliseconds, summed over all nodes. Each home gets the same work, however many there are. */
export const turnMs = async (way: Way, conversations = 1): Promise<number> => {
  const chat = prefix()
  const each = turnsInChat * conversations
  const clients = atOnceEach * way.homes.length
  const client = async (_: unknown, number: number): Promise<void> => {
    for (let index = 0; index < each; index++) await turn(way.gateway, chatOf(chat, number, index), short)
  }
  return (await cpuOf(way, () => Promise.all(Array.from({ length: clients }, client)))) / (clients * each)
}

/** The means of measurements that take turns in small parts: the load of the machine changes from part to part. */
export const inParts = async (
  parts: number,
  measures: ReadonlyArray<() => Promise<number>>
): Promise<ReadonlyArray<number>> => {
  const sums = measures.map(() => 0)
  for (let part = 0; part < parts; part++) {
    for (const [index, measure] of measures.entries()) sums[index] = (sums[index] ?? 0) + (await measure()) / parts
  }
  return sums
}

const clients = 32
const warmSeconds = 1
const countedSeconds = 4

/** The turns a second that the nodes can do. */
export const turnsPerSecond = async (through: NodeProcess): Promise<number> => {
  const chat = prefix()
  const warmUntil = performance.now() + warmSeconds * 1_000
  const until = warmUntil + countedSeconds * 1_000
  let count = 0
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let index = 0; performance.now() < until; index++) {
        await turn(through, chatOf(chat, client, index), short)
        const now = performance.now()
        if (now > warmUntil && now <= until) count++
      }
    })
  )
  return count / countedSeconds
}

/** The heap that an idle chat of another node keeps on the gateway, in kB. */
export const idleKb = async ({ gateway }: Way): Promise<number> => {
  const chat = prefix()
  const use = (from: number, times: number) =>
    together({ times, atOnce }, (index) => turn(gateway, `${chat}${from + index}`, { words: 1, pauseMs: 0 }))
  await use(0, idle / 4)
  await pause(1_500)
  const before = await gateway.heapBytes()
  await use(idle, idle)
  await pause(1_500)
  return ((await gateway.heapBytes()) - before) / idle / 1_000
}
