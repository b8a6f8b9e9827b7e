import { Clock } from "@troupe/otp"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { InnerClient } from "../../src/inner/InnerClient.ts"
import { listenInner } from "../../src/inner/InnerListener.ts"
import { machineTime } from "../../src/inner/machineTime.ts"
import { SignatureCheck } from "../../src/inner/signature.ts"

const program = fileURLToPath(new URL("../double/unsignedStreams.ts", import.meta.url))
const secret = "the secret of a test"
const clock = Clock.live

/** The processor time of this process in ms, and its new memory in MB, until a program with these arguments has ended. */
const costOf = async (...args: ReadonlyArray<string>) => {
  for (let times = 0; times < 4; times++) globalThis.gc?.()
  const [time, memory] = [process.cpuUsage(), process.resourceUsage().maxRSS]
  await once(spawn(process.execPath, [program, ...args], { stdio: ["ignore", "inherit", "inherit"] }), "close")
  const { user, system } = process.cpuUsage(time)
  return {
    ms: Math.round((user + system) / 1_000),
    megabytes: Math.round((process.resourceUsage().maxRSS - memory) / 1_000)
  }
}

test.each(["reset", "note"])(
  "INNER7: 1,000 unsigned streams (%s) cost a node less than 20 MB, and others less than 200 ms",
  async (kind) => {
    const check = new SignatureCheck(secret, machineTime)
    const handle = async (): Promise<Response> => new Response("x")
    const { address, close } = await listenInner({ listen: "127.0.0.1:0", clock, check, handle })
    onTestFinished(close)
    const client = new InnerClient({ secret, clock })
    onTestFinished(() => client.close())
    for (let warm = 0; warm < 2_000; warm++) {
      await (await client.request(address, { method: "GET", path: "/", note: "" })).text()
    }
    const none = await costOf(address, "0", kind)
    const all = await costOf(address, "1000", kind)
    process.stderr.write(`1,000 unsigned streams (${kind}): ${JSON.stringify(all)}, none: ${JSON.stringify(none)}\n`)
    expect(all.megabytes).toBeLessThan(20)
    expect(all.ms - none.ms).toBeLessThan(200)
    expect(check.size).toBe(2_000)
  }
)
