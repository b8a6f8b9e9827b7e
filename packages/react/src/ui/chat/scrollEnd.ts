/**
 * A box that scrolls to its end while it grows.
 *
 * SCROLL1. The box follows its end until a reader scrolls up, and again when the reader is back at the end or sends something.
 */
import { type RefObject, useEffect, useRef } from "react"

/** The distance from the end that still counts as the end, in pixels. */
const near = 48

/** The ref of such a box, and its handler. Checks at each render of the component that calls it. `count` is what a reader sent so far. */
export const useScrollEnd = (
  count: number
): { readonly ref: RefObject<HTMLDivElement | null>; readonly onScroll: () => void } => {
  const ref = useRef<HTMLDivElement>(null)
  const isThere = useRef(true)
  const before = useRef(count)
  useEffect(() => {
    if (count > before.current) isThere.current = true
    before.current = count
    if (ref.current !== null && isThere.current && count > 0) ref.current.scrollTop = ref.current.scrollHeight
  })
  return {
    ref,
    onScroll: () => {
      const box = ref.current
      if (box !== null) isThere.current = box.scrollHeight - box.scrollTop - box.clientHeight < near
    }
  }
}
