/** A box that scrolls to its end while it grows, unless the reader has scrolled away. */
import { type RefObject, useEffect, useRef } from "react"

/** The distance from the end that still counts as the end, in pixels. */
const near = 48

/**
 * The props of such a box, and `seek`, which scrolls to its end.
 *
 * **Details**: checks at each render of the component that calls it.
 */
export const useEnd = (): {
  readonly ref: RefObject<HTMLDivElement | null>
  readonly onScroll: () => void
  readonly seek: () => void
} => {
  const ref = useRef<HTMLDivElement>(null)
  const isThere = useRef(true)
  useEffect(() => {
    if (ref.current !== null && isThere.current) ref.current.scrollTop = ref.current.scrollHeight
  })
  return {
    ref,
    onScroll: () => {
      const box = ref.current
      if (box !== null) isThere.current = box.scrollHeight - box.scrollTop - box.clientHeight < near
    },
    seek: () => {
      isThere.current = true
    }
  }
}
