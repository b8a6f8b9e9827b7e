/**
 * The laws that hold for every input, whatever its right value is.
 *
 * PRACTICE2. Every text of every request is well-formed, and no message has blank text as its only content.
 * PRACTICE3. In every request each call has one result, and a reasoning item has the item that follows it.
 * PRACTICE4. Every turn ends or waits for a person. Then each call of the thread has one result.
 *
 * @module
 */
import type { Difference } from "../runner/matching.ts"
import { type Fields, textOf } from "../runner/fields.ts"
import { type Item, itemsOf, textsIn } from "./bodies.ts"
import type { World } from "./world.ts"

/** The texts that are not well-formed, at any depth. */
export const halfPairsIn = (value: unknown): ReadonlyArray<string> =>
  textsIn(value).filter((text) => !text.isWellFormed())

/** Whether an item has blank text, and nothing else. */
const isBlank = ({ role, texts, calls, results, hasMore }: Item): boolean =>
  role !== "system" &&
  role !== "developer" &&
  texts.every((text) => text.trim() === "") &&
  texts.length > 0 &&
  calls.length + results.length === 0 &&
  !hasMore

/** The messages of a request that have blank text as their only content. */
export const blanksOf = (body: Fields): ReadonlyArray<Item> => itemsOf(body).filter(isBlank)

/** The ids whose counts differ between calls and results; a call that is sent by reference has no id of its own. */
const unpaired = (
  items: ReadonlyArray<Pick<Item, "calls" | "results">>,
  hasReferences: boolean
): ReadonlyArray<string> => {
  const calls = items.flatMap((item) => item.calls)
  const results = items.flatMap((item) => item.results.map(({ id }) => id))
  const count = (ids: ReadonlyArray<string>, id: string): number => ids.filter((one) => one === id).length
  return [...new Set([...calls, ...results])].filter((id) =>
    hasReferences ? count(calls, id) > count(results, id) : count(calls, id) !== count(results, id)
  )
}

/** The reasoning items, also those sent by reference, without an item of the model behind them. */
const lonelyReasoning = (items: ReadonlyArray<Item>): ReadonlyArray<Item> =>
  items.filter((item, at) => {
    const next = items[at + 1]
    const isReasoning = item.raw["type"] === "reasoning" || /^rs_/.test(textOf(item.raw["id"] ?? ""))
    return isReasoning && (next === undefined || /^(?:user|system|developer)$|_output$/.test(next.role))
  })

const lawsOfRequest = (body: Fields): ReadonlyArray<readonly [law: string, found: ReadonlyArray<unknown>]> => {
  const items = itemsOf(body)
  const hasReferences = items.some(({ raw }) => raw["type"] === "item_reference")
  return [
    ["has half a surrogate pair", halfPairsIn(body)],
    ["has a message with blank text as its only content", items.filter(isBlank).map(({ raw }) => raw)],
    ["has a call without exactly one result", unpaired(items, hasReferences)],
    ["has a reasoning item without the item that follows it", lonelyReasoning(items).map(({ raw }) => raw)]
  ]
}

/** What breaks a law. */
export const brokenLaws = async (world: World): Promise<ReadonlyArray<Difference>> => {
  const bodies = [world.models.main, ...Object.values(world.models.children)].flatMap(({ requests }) => requests)
  const requests = bodies.flatMap((body, at) =>
    lawsOfRequest(body).flatMap(([law, found]) =>
      found.length === 0 ? [] : [{ path: `law: request ${at + 1}`, message: `${law}: ${shortened(found[0])}` }]
    )
  )
  const { status } = await world.chat.view()
  const isAtRest = await world.isAtRest()
  const open = unpaired(
    world.thread.map((message) => ({
      calls: message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [],
      results: message.role === "tool" ? [{ id: message.toolCallId, text: "" }] : []
    })),
    false
  )
  return [
    ...requests,
    ...(isAtRest || world.isEndless ? [] : [{ path: "law: turn", message: "the turn does not end" }]),
    ...(isAtRest && !status.startsWith("awaiting") && open.length > 0
      ? [{ path: "law: thread", message: `has a call without exactly one result: ${open.join(", ")}` }]
      : []),
    ...world.rejections.map((reason) => ({ path: "law: rejections", message: `unhandled: ${String(reason)}` }))
  ]
}

/** A value as text that fits in a line. */
export const shortened = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
