/** The same models and tools on `Chat.stream`, and on living chats of a Troupe. */
import { mkdtempDisposableSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Chat, Engine, type RunningTroupe, tool, Troupe, type TroupeOptions, user } from "@troupe/chat"
import type { Adapter } from "@troupe/chat/models"
import type { Tool } from "@troupe/chat/tools"
import { System } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import { answers, chats, type Pace, read, readLength, together, wantsTools, work } from "./programA.ts"

/** The model of program A. */
export const adapterOf = (pace: Pace, deltas?: number): Adapter.Adapter => ({
  name: "bench",
  stream: (request) => (request.messages.at(-1)?.role === "tool" ? answers(pace, deltas) : wantsTools())
})

/** The tool of program A, with its time. */
export const waitTool = (ms?: number): Tool.Tool =>
  tool({ name: "wait", description: "Waits a moment", effect: "read", execute: ({ id }) => work(id, ms) })

/** A function that runs program A through `Chat.stream`, with one engine. */
export const streamEach = (pace: Pace): (() => Promise<void>) => {
  const engine = Engine.make({ adapter: adapterOf(pace), tools: [waitTool()] })
  return async () => read(await Chat.stream(engine, [user("go")]))
}

/** Program A in 1,000 times `Chat.stream`. */
export const streams = (pace: Pace): Promise<void> => together(chats, streamEach(pace))

/** Does the work with a Troupe, whose deadlines are those of a program. */
export const withTroupe = async <A>(options: TroupeOptions, use: (troupe: RunningTroupe) => Promise<A>): Promise<A> => {
  const system = System.make()
  const troupe = await Troupe.start({ system, ...options })
  const result = await use(troupe)
  await troupe.stop()
  await System.stop(system)
  return result
}

/** The options of program A. */
export const programA = (pace: Pace, more: Partial<TroupeOptions> = {}): TroupeOptions => ({
  adapter: adapterOf(pace),
  tools: [waitTool()],
  ...more
})

/** Program A in one new living chat. */
export const oneLiving = async (troupe: RunningTroupe, id: string): Promise<void> => {
  const chat = await troupe.chat(id)
  await read(chat.send("go"))
}

/** Program A in 1,000 living chats. */
export const living = (pace: Pace, more: Partial<TroupeOptions> = {}): Promise<void> =>
  withTroupe(programA(pace, more), (troupe) => together(chats, (index) => oneLiving(troupe, `chat-${index}`)))

/** The same, saved in an SQLite file that survives the loss of power. */
export const livingOnSqlite = async (pace: Pace): Promise<void> => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "troupe-bench-"))
  const store = sqlite(join(folder.path, "chats.db"), { durability: "power" })
  await living(pace, { store })
  await store.close()
}

const talker = (deltas: number): Adapter.Adapter => ({ name: "long", stream: () => answers("at once", deltas) })

/** One long answer through `Chat.stream`. */
export const streamedDeltas = async (deltas: number): Promise<void> =>
  readLength(await Chat.stream(Engine.make({ adapter: talker(deltas) }), [user("go")]), deltas)

/** One long answer of a living chat, read by its sender. */
export const livingDeltas = (deltas: number): Promise<void> =>
  withTroupe({ adapter: talker(deltas) }, async (troupe) => {
    const chat = await troupe.chat("long")
    await readLength(chat.send("go"), deltas)
  })
