/**
 * The looks of the observer. All of it stands below `.troupe-observer`; sizes follow a scale of four pixels, colours are custom
 * properties in pairs for light and dark, and every pair of text and ground has the contrast of WCAG AA.
 */
import { chartCss } from "./chart.ts"
import { formCss } from "./form.ts"
import { frameCss } from "./frame.ts"
import { logCss } from "./log.ts"
import { processCss } from "./process.ts"
import { timelineCss } from "./timeline.ts"
import { treeCss } from "./tree.ts"

export const css = [frameCss, formCss, treeCss, processCss, chartCss, timelineCss, logCss].join("")
