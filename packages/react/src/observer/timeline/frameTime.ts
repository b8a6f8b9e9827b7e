/** A clock that updates once a frame. */
import { useEffect, useState } from "react"

/** Returns `at` while nothing is live; else `at` plus the time since it was set, growing with each frame. */
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
