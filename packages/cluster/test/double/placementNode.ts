/** A node in a process of its own: it writes each call of its listener as a line, and stops at SIGTERM. */
import { Clock } from "@troupe/otp"
import { start } from "../../src/engine/EffectPlacement.ts"
import { bucketCount } from "../../src/placement/bucket.ts"

const [url = "", schema = "", address = "", leaseMs = "5000"] = process.argv.slice(2)

const write = (line: object): void =>
  void process.stdout.write(`${JSON.stringify({ at: Clock.live.now(), ...line })}\n`)

const placement = await start({
  url,
  schema,
  address,
  leaseMs: Number(leaseMs),
  report: (error) => write({ verb: "failed", message: String(error) })
})
placement.subscribe({
  gained: async (buckets, epoch) => write({ verb: "gained", buckets, epoch }),
  losing: async (buckets, why) => write({ verb: why, buckets })
})
write({ verb: "started" })
// A woken node writes which leases it believes to have.
const frozenMs = 800
const lookingMs = 50
const watch = { at: Clock.live.now(), timer: undefined as unknown }
const look = (): void => {
  const now = Clock.live.now()
  if (now - watch.at > frozenMs) {
    const leases = Array.from({ length: bucketCount }, (_, bucket) => placement.leaseOf(bucket)).filter(Boolean)
    write({ verb: "woke", leases: leases.length })
  }
  watch.at = now
  watch.timer = Clock.live.setTimeout(look, lookingMs)
}
look()
process.once("SIGTERM", async () => {
  const began = Clock.live.now()
  await placement.stop()
  write({ verb: "stopped", ms: Clock.live.now() - began })
  // With nothing left, the process ends by itself.
  Clock.live.clearTimeout(watch.timer)
})
