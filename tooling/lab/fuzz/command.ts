/**
 * `pnpm fuzz [--requests N] [--seed N]`: sends odd requests to the routes of the foreign protocols. The last line is
 * `N passed, N failed`; the exit code is 1 when a request failed.
 *
 * @module
 */
import { parseArgs } from "node:util"
import { fuzz } from "./fuzz.ts"

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) }
  }
})
const requests = Number(values.requests)
const seed = Number(values.seed)

console.log(`${requests} requests, seed ${seed}`)
setTimeout(() => {
  console.log("✗ The server, or a conversation, did not end within ten minutes\n0 passed, 1 failed")
  process.exit(1)
}, 600_000).unref()
const { seen, wrong } = await fuzz(requests, seed)
for (const [kind, count] of [...seen].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
  console.log(`${String(count).padStart(6)}  ${kind}`)
}
for (const line of wrong.slice(0, 20)) console.log(`✗ ${line}`)
console.log(wrong.length === 0 ? "1 passed, 0 failed" : `0 passed, ${wrong.length} failed`)
process.exitCode = wrong.length === 0 ? 0 : 1
