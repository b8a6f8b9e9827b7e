/**
 * `pnpm soak [--seed N] [--minutes M] [--chats N]`: random chats, tools, hangs, cancels, kills and restarts, then the checks. The
 * exit code is 1 when an invariant does not hold.
 *
 * @module
 */
import { anySeed, conclude, optionsOf } from "../command.ts"
import { heapOf } from "./heap.ts"
import { soakOf } from "./soak.ts"

const { seed, minutes, chats } = optionsOf({ seed: anySeed(), minutes: 10, chats: 12 })
const actsInAnEra = 250
const collect = (globalThis as { readonly gc?: () => void }).gc

const begun = performance.now()
const sizes: Array<number> = []
console.log(`soak of ${minutes} minutes, seed ${seed}, ${chats} chats at a time`)
const soak = soakOf(seed, chats)
const { counts } = soak
process.on("unhandledRejection", (reason) => {
  counts.add("unhandled rejections")
  console.error("unhandled rejection:", reason)
})
let reported = begun
while (performance.now() - begun < minutes * 60_000) {
  await soak.era(actsInAnEra)
  collect?.()
  collect?.()
  const { heapUsed: bytes } = process.memoryUsage()
  sizes.push(bytes)
  if (performance.now() - reported < 30_000) continue
  reported = performance.now()
  console.log(
    `${((reported - begun) / 1000).toFixed(0)} s: ${counts.get("turns")} turns, ${counts.get("handlers started")} handlers, ${counts.get("processes")} processes, heap ${(bytes / 2 ** 20).toFixed(1)} MB`
  )
}
await soak.stop()
await new Promise<void>((resolve) => void setImmediate(resolve))

const heap = heapOf(sizes)
for (const [name, count] of counts.all) console.log(`${String(count).padStart(9)}  ${name}`)
console.log()
conclude(soak.wrong(), "every call has one outcome, what was begun is over, and nothing is left")
const mega = (size: number): string => `${(size / 2 ** 20).toFixed(2)} MB`
console.log(
  heap === undefined
    ? "heap: too few samples to say"
    : `heap ${heap.isFlat ? "flat" : "GROWS"}: from ${mega(heap.earlier)} to ${mega(heap.later)}, over ${heap.samples} samples after collection`
)
conclude(heap?.isFlat === false ? ["LAB23: the heap grows"] : [])
