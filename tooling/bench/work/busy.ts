/** A living chat on PostgreSQL that never rests. */
import { postgres } from "@troupe/store"
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { answers } from "./programA.ts"
import { type Costs, median } from "./timed.ts"
import { withTroupe } from "./troupe.ts"

/** The median time of a turn: of chats until they have 100 messages, and of one chat until it has 10,000. */
export const busy = async (): Promise<Costs> => {
  const server = await startPostgres()
  const store = postgres(server.url)
  const adapter = { name: "brief", stream: () => answers("at once", 1) }
  const costs = await withTroupe({ store, adapter }, async (troupe) => {
    const talk = async (id: string, messages: number): Promise<ReadonlyArray<number>> => {
      const chat = await troupe.chat(id)
      const times: Array<number> = []
      while (times.length < messages / 2) {
        const begun = performance.now()
        const { haltedReason } = await chat.send("go").result()
        if (haltedReason !== "completed") throw new Error(`a turn ended ${haltedReason}`)
        times.push(performance.now() - begun)
      }
      return times
    }
    await talk("warm", 1_000)
    const early: Array<number> = []
    for (let index = 0; index < 10; index++) early.push(...(await talk(`short-${index}`, 100)))
    return { earlyTurnMs: median(early), turnMs: median(await talk("busy", 10_000)) }
  })
  await store.close()
  await server.stop()
  return costs
}
