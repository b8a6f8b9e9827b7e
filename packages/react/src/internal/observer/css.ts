/**
 * The looks of the observer. All of it stands below `.troupe-observer`; sizes follow a scale of four pixels, colours are custom
 * properties in pairs for light and dark, and every pair of text and ground has the contrast of WCAG AA.
 */
import { chartCss } from "./css/chart.ts"
import { formCss } from "./css/form.ts"
import { frameCss } from "./css/frame.ts"
import { logCss } from "./css/log.ts"
import { processCss } from "./css/process.ts"
import { timelineCss } from "./css/timeline.ts"
import { treeCss } from "./css/tree.ts"

export const css = [frameCss, formCss, treeCss, processCss, chartCss, timelineCss, logCss].join("")
