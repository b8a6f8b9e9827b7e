/** Measures an element. */
import { type RefObject, useLayoutEffect, useState } from "react"

/** A size in CSS pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** The size of an element's content; `undefined` until it is known, and where there is no layout. */
export const useSize = (element: RefObject<HTMLElement | null>): Size | undefined => {
  const [size, setSize] = useState<Size>()
  useLayoutEffect(() => {
    const watched = element.current
    if (watched === null || typeof ResizeObserver === "undefined") return
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry?.contentRect ?? { width: 0, height: 0 }
      if (width > 0) setSize({ width, height })
    })
    observer.observe(watched)
    return () => observer.disconnect()
  }, [element])
  return size
}
