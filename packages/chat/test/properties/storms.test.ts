/** Random programs whose every await goes on, fails, answers late or never, while processes and programs end. */
import host from "node:process"
import { afterAll, beforeAll, expect, test } from "vitest"
import { jsonSchema } from "../../src/tool/jsonSchema.ts"
import { turnsOfLoop } from "../double/pausing.ts"
import { stormOf } from "../double/storm.ts"
import { brokenLaws } from "../double/stormLaws.ts"
import { stormTroupe } from "../double/stormTroupe.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

const rejections: Array<string> = []
const rejected = (reason: unknown) => void rejections.push(`nobody handled ${String(reason)}`)

beforeAll(async () => {
  host.on("unhandledRejection", rejected)
  // The first check of a JSON Schema loads the validator, which takes real time.
  await jsonSchema({ type: "object" })["~standard"].validate({})
})
afterAll(() => void host.off("unhandledRejection", rejected))

const seeds = seedsOf(15_000)
const parts = Array.from({ length: 8 }, (_, part) => seeds.filter((_seed, at) => at % 8 === part))

test.each(parts.map((own, part) => [part + 1, own] as const))(
  "CHAT2, CHAT12, CALL1, OPEN2, ARR1, ARR3, RCPT2, RCPT3, REF1, REF4, MAIL4, MAIL5, CHAIN1, CHAIN3 whatever its awaits do: each input is in the thread once, each write takes effect once after its intent, each call has one result, and each turn ends (part %i)",
  { timeout: 1_800_000 },
  async (_, own) => {
    for (const seed of own) {
      const storm = await stormOf(stormTroupe, seed)
      await turnsOfLoop(1)
      const broken = [...brokenLaws(storm), ...rejections.splice(0)]
      expect(broken, `seed ${seed}: ${storm.trace.join(", ")}`).toEqual([])
    }
  }
)

test("a storm depends on nothing but its seed", async () => {
  for (const seed of seeds.slice(0, 10)) {
    const [one, other] = [await stormOf(stormTroupe, seed), await stormOf(stormTroupe, seed)]
    expect(other.trace).toEqual(one.trace)
    expect(other.deeds).toEqual(one.deeds)
  }
})
