/**
 * Tables of Markdown that a command writes into a page.
 *
 * @module
 */

/** A table of Markdown, formatted as the formatter does. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((title, at) => Math.max(3, title.length, ...rows.map((row) => (row[at] ?? "").length)))
  const line = (cells: ReadonlyArray<string>): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n")
}

/** The page with this text between the two comments of a table: `<!-- name: written by command -->` and `<!-- end of name -->`. */
export const withTable = (page: string, command: string, name: string, text: string): string => {
  const [begin, end] = [`<!-- ${name}: written by ${command} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the page has no place for the table of ${name}`)
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`
}
