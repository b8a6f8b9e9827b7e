/**
 * Changes the sources of this build as they are loaded, so that a process runs another build: `node --import builds.ts?next`.
 *
 * @module
 */
import { registerHooks } from "node:module"

/**
 * The builds of a node.
 *
 * - `this`: the sources as they are
 * - `next`: its store adds a column by an additive migration, and writes it. It joins the cluster of this build.
 * - `other`: also has the next number of the protocol of placement. It may not join.
 */
export type Build = "this" | "next" | "other"

/** The arguments of Node for a program of this build. */
export const argumentsOf = (build: Build): ReadonlyArray<string> =>
  build === "this" ? [] : ["--import", `${new URL(import.meta.url).href.split("?")[0]}?${build}`]

interface Change {
  readonly file: string
  readonly from: RegExp
  readonly to: string
}

const addedColumn: ReadonlyArray<Change> = [
  {
    file: "/packages/store/src/postgres/postgresSchema.ts",
    from: /bucketColumn\(dialect\),/,
    to: 'bucketColumn(dialect), { name: "builds", apply: () => all([`ALTER TABLE ${dialect.prefix}commits ADD COLUMN build TEXT`]) },'
  },
  {
    file: "/packages/store/src/postgres/postgresSave.ts",
    from: /\(chat, seq, is_step, body\) SELECT key, after \+ 1, is_step, body FROM/,
    to: "(chat, seq, is_step, body, build) SELECT key, after + 1, is_step, body, 'next' FROM"
  }
]

const nextProtocol: Change = {
  file: "/packages/cluster/src/placement/bucket.ts",
  from: /placement: "1"/,
  to: 'placement: "2"'
}

/** The changes of each build. */
export const changes: Readonly<Record<string, ReadonlyArray<Change>>> = {
  next: addedColumn,
  other: [...addedColumn, nextProtocol]
}

const changed = (source: string, { file, from, to }: Change): string => {
  if (!from.test(source)) throw new Error(`${file} has no ${from.source} to change for another build`)
  // A function, because `to` has dollar signs.
  return source.replace(from, () => to)
}

const own = changes[new URL(import.meta.url).search.slice(1)]
if (own !== undefined) {
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      const change = own.find(({ file }) => url.endsWith(file))
      if (change === undefined || loaded.source === undefined || loaded.source === null) return loaded
      const text = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source)
      return { ...loaded, source: changed(text, change) }
    }
  })
}
