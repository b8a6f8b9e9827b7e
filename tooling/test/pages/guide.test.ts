import { chatMachine } from "@troupe/chat/machines"
import { expect, test } from "vitest"
import type { AnyStateNode } from "xstate"
import { readText } from "../../house/workspace.ts"

/** The states that a chart can be in between two events: those that no transition without event and guard leaves at once. */
const stableStates = (node: AnyStateNode): ReadonlyArray<string> =>
  Object.values(node.states).flatMap((state) => {
    if (state.always?.some(({ guard }) => guard === undefined) === true) return []
    if (Object.keys(state.states).length === 0) return [JSON.stringify(state.key)]
    return stableStates(state).map((inner) => `{"${state.key}":${inner}}`)
  })

/** The values in the first column of the guide's table, as JSON. */
const tabled = (): ReadonlyArray<string> => {
  const [, table = ""] = readText("docs/guide.md").split("| `snapshot.value`")
  const [rows = ""] = table.split("\n\n")
  return rows
    .split("\n")
    .slice(2)
    .flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ""))
    .map((value) => value.replaceAll(/(\w+):/g, '"$1":').replaceAll(" ", ""))
}

test("the guide's table names each state a chat can be in, once, and no other", () => {
  expect(tabled().toSorted()).toEqual(stableStates(chatMachine.root).toSorted())
})
