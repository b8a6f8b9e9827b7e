/** The inputs of `cases/practice`: each is right in one folder, and in the other with changes that make it wrong. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { brokenIn } from "../../conformance/practice/laws.ts"
import { practiceSuite } from "../../conformance/practice/practiceSuite.ts"
import { reportOf, runCases } from "../../conformance/runner/runSuite.ts"
import { readCases } from "../../conformance/runner/suite.ts"

const folder = join(import.meta.dirname, "cases/practice")
const names = readdirSync(join(folder, "right"))

const findingOf = async (path: string): Promise<ReadonlyArray<unknown>> => {
  const [one] = practiceSuite.casesOf(JSON.parse(readFileSync(join(folder, path), "utf8")), path, path)
  return [await one?.run("real")].flat()
}

it.each(names)("PRACTICE5 an input passes when it is right, and fails when it is not: %s", async (name) => {
  expect(await findingOf(`right/${name}`)).toEqual([])
  const [found] = await findingOf(`wrong/${name}`)
  expect(found).toEqual({ path: expect.any(String), message: expect.any(String) })
})

it.each<[law: string, messages: ReadonlyArray<object>]>([
  ["half a surrogate pair in a request", [{ role: "user", content: "\ud83d" }]],
  ["blank text as the only content", [{ role: "assistant", content: " \n" }]],
  ["a call without exactly one result in a request", [{ type: "function_call", call_id: "c" }]],
  ["reasoning without the item that follows it", [{ type: "item_reference", id: "rs_1" }, { role: "user" }]]
])("PRACTICE2, PRACTICE3 a request with %s breaks this law, and only this one", (law, messages) => {
  expect(brokenIn({ messages }).map(({ message }) => message.split(": ")[0])).toEqual([law])
})

it("PRACTICE5 inputs with words or fields that the runner does not know are counted apart", async () => {
  const { lines } = reportOf(await runCases(readCases(practiceSuite, join(folder, "unknown")), []), true)
  expect(lines).toEqual([
    "not examined, the field weather: a-field",
    "not examined, the facets the moon is full: a-right-value",
    "not examined, the words “sing”: a-step",
    "0 deviate by decision; not run: none; 3 cases and 0 facets not examined",
    "0 passed, 0 failed, 3 not examined"
  ])
})
