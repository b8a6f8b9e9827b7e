import { expect, test } from "vitest"
import { PartialJson } from "../../src/json/partialJson.ts"
import { dearer } from "./cost.ts"

const reply = (items: number): string =>
  JSON.stringify({ items: Array.from({ length: items }, (_, index) => ({ index, text: `the item number ${index}` })) })

/** Reads a reply in fragments, and its value after each. */
const streamed = (whole: string) => (): void => {
  const json = new PartialJson()
  for (let at = 0; at < whole.length; at += 8) {
    json.push(whole.slice(at, at + 8))
    void json.value
  }
}

test("PARTIAL4 the value after each fragment costs the same in a long reply as in a short one", async () => {
  const [short, long] = [streamed(reply(8_000)), streamed(reply(64_000))]
  short()
  expect(await dearer(3, { run: long }, { run: short })).toBeLessThan(24)
})
