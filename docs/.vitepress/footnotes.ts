/**
 * The numbers of guarantees, as footnotes: a page writes `(CHAT11)`, and its reader sees a small number, whose footnote is the
 * guarantee. The page of the guarantees has an anchor for each.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import footnote from "markdown-it-footnote"
import type { MarkdownRenderer } from "vitepress"

const path = join(import.meta.dirname, "../guarantees.md")

/** The guarantees by their numbers, from the tables of the page. */
const guarantees = new Map(
  readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, ids = "", text = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
      return /^[A-Z]+\d/.test(ids) ? ids.split(", ").map((id) => [id, text] as const) : []
    })
)

const number = "[A-Z]+\\d+"
const cited = new RegExp(` \\(\\[?(${number}(?:, ${number})*)(?:\\]\\(guarantees\\.md\\))?\\)`, "g")

/** A page whose citations are footnotes. Code is left as it is. */
const withFootnotes = (source: string): string => {
  const used = new Set<string>()
  const parts = source.split(/(^ *`{3,}[\s\S]*?^ *`{3,} *$)/m)
  const text = parts
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(cited, (whole, ids: string) => {
            const known = ids.split(", ").filter((id) => guarantees.has(id))
            for (const id of known) used.add(id)
            return known.length === 0 ? whole : known.map((id) => `[^${id}]`).join("")
          })
    )
    .join("")
  const notes = [...used].map((id) => `[^${id}]: ${guarantees.get(id)} ([${id}](/guarantees#${id.toLowerCase()}))`)
  return notes.length === 0 ? text : `${text}\n\n${notes.join("\n\n")}\n`
}

/** The page of the guarantees, with an anchor for each number. */
const withAnchors = (source: string): string =>
  source.replaceAll(new RegExp(`^\\| (${number}(?:, ${number})*) `, "gm"), (_, ids: string) => {
    const anchors = ids.split(", ").map((id) => `<span id="${id.toLowerCase()}">${id}</span>`)
    return `| ${anchors.join(", ")} `
  })

/** Adds the footnotes to the renderer of pages. */
export const withGuarantees = (md: MarkdownRenderer): void => {
  md.use(footnote)
  md.core.ruler.before("normalize", "troupe-guarantees", (state) => {
    const { relativePath = "" } = state.env as { readonly relativePath?: string }
    if (relativePath === "guarantees.md") state.src = withAnchors(state.src)
    else if (!relativePath.startsWith("reference/")) state.src = withFootnotes(state.src)
  })
}
