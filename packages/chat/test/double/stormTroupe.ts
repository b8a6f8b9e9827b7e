/** The chat of a Troupe, as a target of storms. */
import { Process, System } from "@troupe/otp"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { processesOf } from "./processes.ts"
import { anyOf } from "./randomParts.ts"
import type { StormTarget } from "./storm.ts"

const labels = ["Chat c", "ToolCall", "AdapterStream", "Store"]

/** In every second storm the programs are the home of the chat. */
const home = { fenceOf: () => ({ key: "storm", epoch: 0 }), mayAct: () => true }

export const stormTroupe: StormTarget = {
  open: async (options, clock, seed) => {
    const system = System.make({ name: "storm", clock, seed, silent: true })
    const isAtHome = Math.floor(seed / 1_000) % 2 === 1
    const troupe = await Troupe.start({ ...options, system, ...(isAtHome && { home }) })
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
    return ["fails", "is late", "is silent"]
  }
}
