/** The time that passes between two looks, told once in a frame. */
import { useEffect, useState } from "react"

/** `at` while nothing is live; else `at` and the time since it was told, growing with each frame. */
export const useLiveTime = (at: number, isLive: boolean): number => {
  const [passed, setPassed] = useState({ at, ms: 0 })
  useEffect(() => {
    if (!isLive) return
    let begun: number | undefined
    let frame = requestAnimationFrame(function tick(now) {
      begun ??= now
      setPassed({ at, ms: now - begun })
      frame = requestAnimationFrame(tick)
    })
    return () => cancelAnimationFrame(frame)
  }, [at, isLive])
  return isLive && passed.at === at ? at + passed.ms : at
}
