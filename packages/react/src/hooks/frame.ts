/** The animation frames of the page. */

/** Whether there are frames: false outside a browser, and in a hidden page. */
export const isDrawn = (): boolean =>
  typeof requestAnimationFrame === "function" && (typeof document === "undefined" || !document.hidden)

/** Runs a function in the next frame, and returns a function that cancels it. */
export const onFrame = (run: () => void): (() => void) => {
  const id = requestAnimationFrame(run)
  return () => cancelAnimationFrame(id)
}
