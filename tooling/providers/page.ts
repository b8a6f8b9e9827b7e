/**
 * The tables of `docs/providers.md`, as the packages behave.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { table, withTable } from "../house/generatedTables.ts"
import { root } from "../house/workspace.ts"
import { features } from "./features.ts"
import { type Verdict, verdictOf } from "./measure.ts"
import { columns, packages } from "./packages.ts"
import { partRows } from "./parts.ts"
import { partsSent } from "./streams.ts"

/** The file of the page. */
export const pageFile = join(root, "docs", "providers.md")

/** What each package does with each feature. */
export const featureRows = async () => {
  const rows: Array<{ readonly title: string; readonly verdicts: ReadonlyArray<Verdict> }> = []
  for (const feature of features) {
    const verdicts = await Promise.all(columns.map((column) => verdictOf(feature, column)))
    rows.push({ title: feature.title, verdicts })
  }
  return rows
}

/** The page with the tables of these rows in place of its own. */
export const pageWith = async (rows: Awaited<ReturnType<typeof featureRows>>): Promise<string> => {
  const titles = columns.map((column) => packages[column].title)
  const parts = await partRows()
  const sent = await partsSent()
  const code = (text: string): string => `\`${text}\``
  const tables = {
    features: table(
      ["feature", ...titles],
      rows.map(({ title, verdicts }) => [title, ...verdicts.map((verdict) => (verdict === "none" ? "–" : verdict))])
    ),
    models: table(
      ["column", "package", "model"],
      Object.values(packages).map(({ title, module, modelId }) => [title, code(module), code(modelId)])
    ),
    parts: table(
      ["part", "events", "kept in"],
      parts.map(({ type, events, kept }) => [code(type), events.map(code).join(", "), kept.join(", ")])
    ),
    senders: table(
      ["part", ...titles],
      parts.map(({ type }) => [code(type), ...columns.map((one) => (sent.get(one)?.has(type) === true ? "yes" : "–"))])
    )
  }
  return Object.entries(tables).reduce(
    (page, [name, text]) => withTable(page, "pnpm providers", name, text),
    readFileSync(pageFile, "utf8")
  )
}
