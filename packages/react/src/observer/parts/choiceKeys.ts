/** The keys of a list of which one is chosen: tabs, options. */
import type { KeyboardEvent } from "react"

/** The id that a key leads to: the arrows go round, Home and End go to the ends. `undefined` for another key. */
export const keyedChoice = (
  { key }: Pick<KeyboardEvent, "key">,
  ids: ReadonlyArray<string>,
  chosen: string
): string | undefined => {
  const at = ids.indexOf(chosen)
  switch (key) {
    case "ArrowRight":
      return ids[(at + 1) % ids.length]
    case "ArrowLeft":
      return ids.at(at - 1)
    case "Home":
      return ids[0]
    case "End":
      return ids.at(-1)
    default:
      return undefined
  }
}
