/** The process of the client: posts 1,000 turns to the server that its parent names, one after another, and reads each answer to its end. */
import { turn } from "../cluster/turn.ts"

const turns = 1_000
let begun = 0

process.on("message", async (base: string) => {
  try {
    for (let done = 0; done < turns; done++) await turn({ base }, `c${begun++}`, { words: 50, pauseMs: 0 })
    process.send?.("done")
  } catch (error) {
    process.send?.(String(error))
  }
})
