/** The output of the program that will be killed, a line of JSON for each fact before it continues. */

/**
 * - `ready`: its Troupe runs
 * - `revived`: a conversation was loaded in this phase, with its interrupted reply so far
 * - `accepted`: the store has this input, as the receipt of its sender says
 * - `stored`: the store has the row of this input, and the program ends before its chat gets the input
 * - `answered`: a turn was over, with this answer
 * - `forked`: a new conversation was forked from another
 * - `continued`: a coordinator was loaded in this phase
 * - `asked`: an agent of a tree sends a request
 * - `allowed`: a person allowed this call of a tree, and the turn of that decision is over
 * - `wrong`: something failed unexpectedly
 */
export type Line =
  | { readonly type: "ready" }
  | { readonly type: "revived"; readonly chat: string; readonly phase: string; readonly partial: string }
  | { readonly type: "accepted" | "stored"; readonly chat: string; readonly input: string }
  | { readonly type: "answered"; readonly chat: string; readonly text: string }
  | { readonly type: "forked"; readonly chat: string; readonly to: string }
  | { readonly type: "continued"; readonly chat: string; readonly phase: string }
  | { readonly type: "asked"; readonly agent: string }
  | { readonly type: "allowed"; readonly chat: string; readonly call: string }
  | { readonly type: "wrong"; readonly what: string }

/** The complete lines of the output; a line that was cut off does not count. */
export const linesOf = (text: string): ReadonlyArray<Line> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
