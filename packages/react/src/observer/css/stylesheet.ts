/**
 * The styles of the observer, all below `.troupe-observer`. Sizes follow a scale of four pixels. Colours are custom
 * properties in pairs for light and dark. Every pair of text and background has the contrast of WCAG AA.
 */
import { chartCss } from "./chart.ts"
import { formCss } from "./form.ts"
import { frameCss } from "./frame.ts"
import { logCss } from "./log.ts"
import { processCss } from "./process.ts"
import { timelineCss } from "./timeline.ts"
import { treeCss } from "./tree.ts"

export const css = [frameCss, formCss, treeCss, processCss, chartCss, timelineCss, logCss].join("")
