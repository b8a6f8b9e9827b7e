/**
 * Braces in the text of a page are text. Vue would read two of them as an expression.
 *
 * @module
 */
import type { MarkdownRenderer } from "vitepress"

/** Escapes the braces of text and of code within text. */
export const withPlainBraces = (md: MarkdownRenderer): void => {
  for (const rule of ["text", "code_inline"] as const) {
    const render = md.renderer.rules[rule]
    md.renderer.rules[rule] = (tokens, index, options, env, self) =>
      (render?.(tokens, index, options, env, self) ?? "").replaceAll("{", "&#123;").replaceAll("}", "&#125;")
  }
}
