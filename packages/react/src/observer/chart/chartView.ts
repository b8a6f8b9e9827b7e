/** The visible part of a chart, and how keys, wheel and pointer move it. */
import type { Box, Drawing } from "./chartLayout.ts"

/** The box of the whole drawing. */
export const wholeOf = ({ width, height }: Pick<Drawing, "width" | "height">): Box => ({ x: 0, y: 0, width, height })

const largest = 2

/** Zooms around a fixed point, by default the middle. */
export const zoomed = (
  view: Box,
  factor: number,
  whole: Box,
  about = { x: view.x + view.width / 2, y: view.y + view.height / 2 }
): Box => {
  const width = Math.min(whole.width * largest, Math.max(120, view.width * factor))
  const scale = width / view.width
  return {
    x: about.x - (about.x - view.x) * scale,
    y: about.y - (about.y - view.y) * scale,
    width,
    height: view.height * scale
  }
}

/** Moves the view by fractions of its size; the middle stays inside the drawing. */
export const panned = (view: Box, right: number, down: number, whole: Box): Box => ({
  ...view,
  x: within(view.x + right * view.width, -view.width / 2, whole.width - view.width / 2),
  y: within(view.y + down * view.height, -view.height / 2, whole.height - view.height / 2)
})

const within = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))

/**
 * The view that shows boxes in a frame: the whole drawing if its text is readable then, else the part around the boxes, at
 * text size.
 */
export const viewAround = (
  boxes: ReadonlyArray<Box>,
  whole: Box,
  frame: { readonly width: number; readonly height: number }
): Box => {
  const fits = Math.max(whole.width / frame.width, whole.height / frame.height)
  if (fits <= 1.35 || boxes.length === 0) return whole
  const left = Math.min(...boxes.map(({ x }) => x))
  const top = Math.min(...boxes.map(({ y }) => y))
  const right = Math.max(...boxes.map(({ x, width }) => x + width))
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height))
  const { width, height } = frame
  return {
    x: within((left + right - width) / 2, -20, Math.max(-20, whole.width - width + 20)),
    y: within((top + bottom - height) / 2, -20, Math.max(-20, whole.height - height + 20)),
    width,
    height
  }
}

/** The view after a key; `undefined` for a key without effect. */
export const keyed = (key: string, view: Box, whole: Box): Box | undefined => {
  switch (key) {
    case "ArrowLeft":
      return panned(view, -0.15, 0, whole)
    case "ArrowRight":
      return panned(view, 0.15, 0, whole)
    case "ArrowUp":
      return panned(view, 0, -0.15, whole)
    case "ArrowDown":
      return panned(view, 0, 0.15, whole)
    case "+":
    case "=":
      return zoomed(view, 0.8, whole)
    case "-":
      return zoomed(view, 1.25, whole)
    case "0":
      return whole
    default:
      return undefined
  }
}
