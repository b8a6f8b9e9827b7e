/**
 * Colours for text.
 *
 * @module
 */
import * as colors from "yoctocolors"

/** The styles of text. */
export interface Paint {
  readonly strong: (text: string) => string
  readonly quiet: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly warn: (text: string) => string
  readonly accent: (text: string) => string
}

const plain = (text: string): string => text

/** No colours: for pipes and files. */
export const plainPaint: Paint = { strong: plain, quiet: plain, good: plain, bad: plain, warn: plain, accent: plain }

const colored: Paint = {
  strong: colors.bold,
  quiet: colors.dim,
  good: colors.green,
  bad: colors.red,
  warn: colors.yellow,
  accent: colors.cyan
}

/** Colours for a terminal, unless `NO_COLOR` is set; none for anything else. */
export const paintFor = (
  output: { readonly isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>
): Paint => {
  const refused = env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== ""
  return output.isTTY === true && !refused ? colored : plainPaint
}
