/** The frames of the page. */

/** Whether there are frames: not outside of a browser, nor in a page that nobody sees. */
export const isDrawn = (): boolean =>
  typeof requestAnimationFrame === "function" && (typeof document === "undefined" || !document.hidden)

/** Runs a function when the page is drawn next, and gives what forgets that. */
export const onFrame = (run: () => void): (() => void) => {
  const id = requestAnimationFrame(run)
  return () => cancelAnimationFrame(id)
}
