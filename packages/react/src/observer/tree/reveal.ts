/** Scrolls a row into view. */

/** Scrolls the containers of an element within the observer, as little as possible, and never the page around it. */
export const reveal = (element: HTMLElement): void => {
  const box = scrollerOf(element)
  if (box === undefined) return
  const { top, bottom } = element.getBoundingClientRect()
  const seen = box.getBoundingClientRect()
  if (top < seen.top) box.scrollTop -= seen.top - top
  else if (bottom > seen.bottom) box.scrollTop += bottom - seen.bottom
}

const scrollerOf = (element: HTMLElement): HTMLElement | undefined => {
  const within = element.closest<HTMLElement>(".tro-observer")
  for (let box = element.parentElement; box !== null && within?.contains(box) === true; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight && getComputedStyle(box).overflowY === "auto") return box
  }
  return undefined
}
