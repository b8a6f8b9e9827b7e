/**
 * `pnpm soak [--seed N] [--minutes M] [--chats N]`: random chats, tools, hangs, cancels, kills and restarts, then the
 * counts. The exit code is 1 when an equation does not hold.
 *
 * @module
 */
import { parseArgs } from "node:util"
import { fitOf, heapLine, type HeapSample } from "./heap.ts"
import { holds } from "./ledger.ts"
import { tableOf } from "./report.ts"
import { Soak } from "./soak.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "10" },
    chats: { type: "string", default: "12" }
  }
})
const [seed, minutes, chats] = [Number(values.seed), Number(values.minutes), Number(values.chats)]
const actsInAnEra = 250
const collect = (globalThis as { readonly gc?: () => void }).gc

let rejections = 0
process.on("unhandledRejection", (reason) => {
  rejections += 1
  console.error("unhandled rejection:", reason)
})

const begun = performance.now()
const heap: Array<HeapSample> = []
const sample = (): void => {
  collect?.()
  collect?.()
  heap.push({ atMs: performance.now() - begun, bytes: process.memoryUsage().heapUsed })
}

console.log(`soak of ${minutes} minutes, seed ${seed}, ${chats} chats at a time`)
const soak = new Soak({ seed, chats })
let said = begun
while (performance.now() - begun < minutes * 60_000) {
  await soak.era(actsInAnEra)
  sample()
  if (performance.now() - said < 30_000) continue
  said = performance.now()
  const { ledger } = soak
  console.log(
    `${((said - begun) / 1000).toFixed(0)} s: ${ledger.get("turns")} turns, ${ledger.get("handlers started")} handlers, ${ledger.get("processes")} processes, heap ${((heap.at(-1)?.bytes ?? 0) / 2 ** 20).toFixed(1)} MB`
  )
}
await soak.stop()
await new Promise<void>((resolve) => void setImmediate(resolve))

const equations = soak.equations(rejections)
const fit = fitOf(heap)
for (const [name, count] of soak.ledger.all) console.log(`${String(count).padStart(9)}  ${name}`)
console.log()
for (const line of tableOf(equations)) console.log(line)
console.log(fit === undefined ? "heap: too few samples to say" : heapLine(fit))
process.exitCode = equations.every(holds) && fit?.flat !== false ? 0 : 1
