/** What the program that will be killed says, a line of JSON each, before it goes on. */

/**
 * - `ready`: its Troupe runs
 * - `revived`: a conversation was found as it was left, in this phase, its interrupted reply so far
 * - `accepted`: the store has this input
 * - `answered`: a turn was over, and this is its answer
 * - `forked`: there is another conversation now, begun from one
 * - `wrong`: something failed that should not
 */
export type Line =
  | { readonly type: "ready" }
  | { readonly type: "revived"; readonly chat: string; readonly phase: string; readonly partial: string }
  | { readonly type: "accepted"; readonly chat: string; readonly input: string }
  | { readonly type: "answered"; readonly chat: string; readonly text: string }
  | { readonly type: "forked"; readonly chat: string; readonly to: string }
  | { readonly type: "wrong"; readonly what: string }

/** The whole lines of what was read; a line that was cut off was not said. */
export const linesOf = (text: string): ReadonlyArray<Line> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
