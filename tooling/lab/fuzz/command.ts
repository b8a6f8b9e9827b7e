/**
 * `pnpm fuzz [--requests N] [--seed N]`: sends odd requests to the routes of the foreign protocols. The last line is
 * `N passed, N failed`; the exit code is 1 when a request failed.
 *
 * @module
 */
import { anySeed, conclude, optionsOf } from "../command.ts"
import { fuzz } from "./fuzz.ts"

const { requests, seed } = optionsOf({ requests: 10_000, seed: anySeed() })

console.log(`${requests} requests, seed ${seed}`)
setTimeout(() => {
  console.log("failed: The server, or a conversation, did not end within ten minutes\n0 passed, 1 failed")
  process.exit(1)
}, 600_000).unref()
const { seen, wrong } = await fuzz(requests, seed)
for (const [kind, count] of seen.all) console.log(`${String(count).padStart(6)}  ${kind}`)
conclude(wrong)
console.log(wrong.length === 0 ? "1 passed, 0 failed" : `0 passed, ${wrong.length} failed`)
