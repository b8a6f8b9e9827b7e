/** The process of the client: posts the turns that its parent orders, one after another, and reads each answer to its end. */
import { turn } from "../cluster/turn.ts"

/** The orders to the client: so many turns on a server. */
export interface Turns {
  readonly base: string
  readonly turns: number
}

let begun = 0

process.on("message", async ({ base, turns }: Turns) => {
  try {
    for (let done = 0; done < turns; done++) await turn({ base }, `c${begun++}`, { words: 50, pauseMs: 0 })
    process.send?.("done")
  } catch (error) {
    process.send?.(String(error))
  }
})
