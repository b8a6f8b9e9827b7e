/** A watched value as frames: the newest state each time the socket asks, none twice. */
import type { Watched } from "../link/index.ts"
import type { Frames } from "../http/index.ts"
import { frame } from "./responses.ts"

/** A slow reader skips states: each frame is the state at the time of the request. */
export const watchedFrames = <A>(watched: Watched<A>, wire: (state: A) => unknown): Frames =>
  async function* frames(signal) {
    let sent: A | undefined
    let wake = (): void => {}
    const leave = watched.subscribe(() => wake())
    const gone = (): void => wake()
    signal.addEventListener("abort", gone)
    try {
      while (!signal.aborted) {
        const state = watched.getState()
        if (state === undefined || state === sent) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          continue
        }
        sent = state
        yield frame(JSON.stringify(wire(state)))
      }
    } finally {
      signal.removeEventListener("abort", gone)
      leave()
    }
  }
