/**
 * The tool calls of a view, with their children, and the patch between two lists of them.
 *
 * SHOW6. While only the text of children grows, the patch has the added text and none of the calls.
 */
import type { ToolCallView } from "../call/index.ts"
import { isSame, shown } from "../json/index.ts"

/** A running call; `process` is the text of its pid. */
export type CallView = Omit<ToolCallView, "pid" | "child"> & {
  readonly process: string | undefined
  readonly child?: ShownChild
}

/** The child of a running call: the text and the reasoning of its running request, and its calls. */
interface ShownChild {
  readonly chat: string
  readonly agent: string
  readonly text: string
  readonly reasoning?: string | undefined
  readonly toolCalls: ReadonlyArray<CallView>
}

/** The part of a text that is kept, and what follows it. */
export interface Grown {
  readonly kept: number
  readonly added: string
}

/** The text that children have said. `at` has the place of the call, and before it those of the calls above. */
export interface ChildPatch {
  readonly at: ReadonlyArray<number>
  readonly text?: Grown
  readonly reasoning?: Grown
}

type Calls = ReadonlyArray<CallView>

/** The call as plain JSON. */
export const callOf = ({ pid, progress, child, ...call }: ToolCallView): CallView => ({
  ...call,
  progress: shown(progress),
  process: pid?.toString(),
  ...(child === undefined ? {} : { child: { ...child, toolCalls: child.toolCalls.map(callOf) } })
})

/** What a text has grown by; `undefined` for the same text. */
export const grownPatch = (before = "", after = ""): Grown | undefined => {
  if (before === after) return undefined
  const kept = after.startsWith(before) ? before.length : 0
  return { kept, added: after.slice(kept) }
}

/** The text after a patch. */
export const grown = (before = "", change: Grown | undefined): string =>
  change === undefined ? before : before.slice(0, change.kept) + change.added

/** The texts of children that changed; `undefined` if something else changed too (SHOW6). */
export const childPatches = (
  before: Calls,
  after: Calls,
  above: ReadonlyArray<number> = []
): ReadonlyArray<ChildPatch> | undefined => {
  if (before.length !== after.length) return undefined
  const all: Array<ChildPatch> = []
  for (const [index, call] of after.entries()) {
    const found = before[index] === undefined ? undefined : textPatches(before[index], call, [...above, index])
    if (found === undefined) return undefined
    all.push(...found)
  }
  return all
}

const textPatches = (
  { child: from, ...before }: CallView,
  { child: to, ...after }: CallView,
  at: ReadonlyArray<number>
): ReadonlyArray<ChildPatch> | undefined => {
  if (!isSame(before, after)) return undefined
  if (from === undefined || to === undefined) return from === to ? [] : undefined
  if (from.chat !== to.chat || from.agent !== to.agent) return undefined
  const below = childPatches(from.toolCalls, to.toolCalls, at)
  if (below === undefined) return undefined
  const text = grownPatch(from.text, to.text)
  const reasoning = grownPatch(from.reasoning, to.reasoning)
  if (text === undefined && reasoning === undefined) return below
  return [{ at, ...(text !== undefined && { text }), ...(reasoning !== undefined && { reasoning }) }, ...below]
}

/** The calls after the patches of their children's texts. */
export const withChildren = (calls: Calls, patches: ReadonlyArray<ChildPatch>): Calls =>
  patches.reduce((all, { at, ...change }) => withChild(all, at, change), calls)

const withChild = (calls: Calls, [index, ...below]: ReadonlyArray<number>, change: Omit<ChildPatch, "at">): Calls =>
  calls.map((call, place) => {
    const { child } = call
    if (place !== index || child === undefined) return call
    if (below.length > 0) return { ...call, child: { ...child, toolCalls: withChild(child.toolCalls, below, change) } }
    const { reasoning: _, ...rest } = child
    const thought = grown(child.reasoning, change.reasoning)
    const said = { text: grown(child.text, change.text), ...(thought === "" ? {} : { reasoning: thought }) }
    return { ...call, child: { ...rest, ...said } }
  })
