/** The frames of the page. */

/**
 * Runs a function when the page is drawn next, and gives what forgets that; `undefined` where nothing is drawn: outside of a
 * browser, and in a page that nobody sees.
 */
export const onFrame = (run: () => void): (() => void) | undefined => {
  if (typeof requestAnimationFrame !== "function" || isHidden()) return undefined
  const id = requestAnimationFrame(run)
  return () => cancelAnimationFrame(id)
}

const isHidden = (): boolean => typeof document !== "undefined" && document.hidden
