/** A box whose end stays in sight while it grows, unless the reader has scrolled away from it. */
import { type RefObject, useEffect, useRef } from "react"

/** How far from the end still counts as there, in pixels. */
const near = 48

/**
 * What such a box is given, and `seek`, which brings its end back into sight.
 *
 * **Details**: looks at each rendering of the component that calls it.
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
