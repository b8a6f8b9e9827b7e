/**
 * The tables of `docs/protocols.md`, as the server behaves.
 *
 * @module
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { table, withTable } from "../house/generatedTables.ts"
import { root } from "../house/workspace.ts"
import { measured, type Rows } from "./measure.ts"
import { columns, protocols } from "./protocols.ts"

const heads: Readonly<Record<string, string>> = {
  requests: "in a request",
  answers: "in an answer",
  acts: "a client can"
}

/** The file of the page. */
export const pageFile = join(root, "docs", "protocols.md")

/** The page with measured tables in place of its own, and the tables. */
export const pageNow = async () => {
  const tables = await measured(columns)
  const titles = columns.map((column) => protocols[column].title)
  const page = (Object.entries(tables) as ReadonlyArray<[string, Rows]>).reduce(
    (before, [name, rows]) => withTable(before, "pnpm protocols", name, table([heads[name] ?? name, ...titles], rows)),
    readFileSync(pageFile, "utf8")
  )
  return { page, tables }
}
