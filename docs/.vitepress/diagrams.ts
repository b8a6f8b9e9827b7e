/**
 * Diagrams of Mermaid, drawn while the site is built. Their colours are variables of the theme, so one drawing serves light
 * and dark.
 *
 * @module
 */
import { renderMermaidSVG } from "beautiful-mermaid"
import type { MarkdownRenderer } from "vitepress"

const colours = {
  bg: "var(--vp-c-bg)",
  fg: "var(--vp-c-text-1)",
  line: "var(--diagram-line)",
  accent: "var(--vp-c-brand-1)",
  muted: "var(--vp-c-text-2)",
  surface: "var(--diagram-surface)",
  border: "var(--diagram-border)"
}

/** One drawing, without a background of its own. */
const drawing = (source: string): string =>
  renderMermaidSVG(source, { ...colours, font: "var(--vp-font-family-base)", padding: 16, transparent: true })

/** Draws each fence of the language `mermaid`. */
export const withDiagrams = (md: MarkdownRenderer): void => {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    if (token?.info.trim() === "mermaid")
      return `<figure class="diagram" tabindex="0" v-pre>${drawing(token.content)}</figure>\n`
    return fence?.(tokens, index, options, env, self) ?? ""
  }
}
