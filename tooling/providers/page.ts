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

/** One feature, with what each package does with it. */
export interface FeatureRow {
  readonly title: string
  readonly verdicts: ReadonlyArray<Verdict>
}

/** What each package does with each feature. */
export const featureRows = async (): Promise<ReadonlyArray<FeatureRow>> => {
  const rows: Array<FeatureRow> = []
  for (const feature of features) {
    const verdicts = await Promise.all(columns.map((column) => verdictOf(feature, column)))
    rows.push({ title: feature.title, verdicts })
  }
  return rows
}

/** The page with the tables of these rows in place of its own. */
export const pageWith = async (rows: ReadonlyArray<FeatureRow>): Promise<string> => {
  const before = readFileSync(pageFile, "utf8")
  const byFeature = table(
    ["feature", ...columns.map((column) => packages[column].title)],
    rows.map(({ title, verdicts }) => [title, ...verdicts.map((verdict) => (verdict === "none" ? "–" : verdict))])
  )
  const models = table(
    ["column", "package", "model"],
    columns.map((column) => {
      const { title, module, modelId } = packages[column]
      return [title, `\`${module}\``, `\`${modelId}\``]
    })
  )
  const rowsOfParts = await partRows()
  const parts = table(
    ["part", "events", "kept in"],
    rowsOfParts.map(({ type, events, kept }) => [
      `\`${type}\``,
      events.map((tag) => `\`${tag}\``).join(", "),
      kept.join(", ")
    ])
  )
  const sent = await partsSent()
  const senders = table(
    ["part", ...columns.map((column) => packages[column].title)],
    rowsOfParts.map(({ type }) => [
      `\`${type}\``,
      ...columns.map((column) => (sent.get(column)?.has(type) === true ? "yes" : "–"))
    ])
  )
  return [
    ["features", byFeature],
    ["models", models],
    ["parts", parts],
    ["senders", senders]
  ].reduce((page, [name = "", text = ""]) => withTable(page, "pnpm providers", name, text), before)
}
