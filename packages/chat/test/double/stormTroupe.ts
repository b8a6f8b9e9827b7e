/** The chat of a Troupe, as a target of storms. */
import { Process, System } from "@troupe/otp"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { processesOf } from "./processes.ts"
import { anyOf } from "./randomParts.ts"
import type { StormTarget } from "./storm.ts"

const labels = ["Chat c", "ToolCall", "AdapterStream", "Store"]

export const stormTroupe: StormTarget = {
  open: async (options, clock, seed) => {
    const system = System.make({ name: "storm", clock, seed, silent: true })
    const troupe = await Troupe.start({ ...options, system })
    return {
      chat: await troupe.chat("c"),
      kill: (chance) => {
        const living = labels.filter((label) => processesOf(system, label).length > 0)
        const label = anyOf(chance, living)
        const pid = label === undefined ? undefined : anyOf(chance, processesOf(system, label))
        if (pid !== undefined) Process.kill(pid)
        return label
      },
      stop: () => troupe.stop(),
      drop: () => {}
    }
  },
  fatesOf: (name) => {
    if (name === "append") return ["fails", "is lost", "is late", "is silent"]
    // After a save that was lost, and a failure here, the input is in memory only (ARR3).
    if (name === "accept again") return ["is late"]
    // A later program does not know that an input without a name was taken, so that a late row of it would run again.
    if (name === "accept unnamed") return ["fails", "is silent"]
    return ["fails", "is late", "is silent"]
  }
}
