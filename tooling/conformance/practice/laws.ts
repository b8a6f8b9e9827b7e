/**
 * The laws that hold for every input, whatever its right value is.
 *
 * PRACTICE2. Every text of every request is well-formed, and no message has blank text as its only content.
 * PRACTICE3. In every request each call has one result, and a reasoning item has the item that follows it.
 * PRACTICE4. Every turn ends or waits for a person. Then each call of the thread has one result, and nothing is left open.
 *
 * @module
 */
import type { Difference } from "../runner/matching.ts"
import { textOf } from "../runner/json.ts"
import { type Item, itemsOf, nodesIn } from "./bodies.ts"
import type { World } from "./world.ts"

/** The texts that are not well-formed, at any depth. */
export const halfPairsIn = (value: unknown): ReadonlyArray<unknown> =>
  nodesIn(value).filter((text) => typeof text === "string" && !text.isWellFormed())

/** The messages that have blank text as their only content. */
const blanksOf = (items: ReadonlyArray<Item>): ReadonlyArray<unknown> =>
  items.flatMap(({ role, texts, calls, results, raw }) => {
    const isMessage = /^(?:user|assistant|model)$/.test(role) && calls.length + results.length === 0
    return isMessage && texts.length > 0 && texts.every((text) => text.trim() === "") ? [raw] : []
  })

/** The ids whose counts differ between calls and results; a call that is sent by reference has no id here. */
const unpairedOf = (calls: ReadonlyArray<string>, results: ReadonlyArray<string>, hasReferences = false) => {
  const count = (ids: ReadonlyArray<string>, id: string): number => ids.filter((one) => one === id).length
  const more = (id: string): number => count(calls, id) - count(results, id)
  return [...calls, ...results].filter((id) => (hasReferences ? more(id) > 0 : more(id) !== 0))
}

const idOf = ({ id }: { readonly id: string }): string => id

/** The reasoning items, also those sent by reference, without an item of the model behind them. */
const lonelyReasoning = (items: ReadonlyArray<Item>): ReadonlyArray<unknown> =>
  items.flatMap(({ raw }, at) => {
    const isReasoning = raw["type"] === "reasoning" || textOf(raw["id"]).startsWith("rs_")
    return isReasoning && /^(?:user|system|developer|.*_output|)$/.test(items[at + 1]?.role ?? "") ? [raw] : []
  })

const broken = (law: string, found: ReadonlyArray<unknown>): ReadonlyArray<Difference> =>
  found.length === 0 ? [] : [{ path: "law", message: `${law}: ${shortened(found[0])}` }]

/** What breaks a law in the body of a request. */
export const brokenIn = (body: unknown): ReadonlyArray<Difference> => {
  const items = itemsOf(body)
  const hasReferences = items.some(({ raw }) => raw["type"] === "item_reference")
  const calls = items.flatMap((item) => item.calls)
  const results = items.flatMap((item) => item.results.map(idOf))
  return [
    ...broken("half a surrogate pair in a request", halfPairsIn(body)),
    ...broken("blank text as the only content", blanksOf(items)),
    ...broken("a call without exactly one result in a request", unpairedOf(calls, results, hasReferences)),
    ...broken("reasoning without the item that follows it", lonelyReasoning(items))
  ]
}

/** What breaks a law. Ends the world. */
export const brokenLaws = async (world: World): Promise<ReadonlyArray<Difference>> => {
  const isAtRest = await world.isAtRest()
  const { status } = await world.chat.view()
  const threadCalls = world.thread.flatMap((one) => (one.role === "assistant" ? (one.toolCalls ?? []) : []))
  const threadResults = world.thread.flatMap((one) => (one.role === "tool" ? [one.toolCallId] : []))
  const unpaired = unpairedOf(threadCalls.map(idOf), threadResults)
  const open = await world.close()
  return [
    ...[...world.main.bodies, ...(world.child?.bodies ?? [])].flatMap((text) => brokenIn(JSON.parse(text))),
    ...broken("the turn does not end", isAtRest || world.isEndless ? [] : [status]),
    ...broken("a call without exactly one result", isAtRest && !status.startsWith("awaiting") ? unpaired : []),
    ...broken("unhandled rejection", world.rejections.map(String)),
    ...broken("streams or connections are left open", open > 0 ? [open] : [])
  ]
}

/** A value as text that fits in a line. */
export const shortened = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 300)
