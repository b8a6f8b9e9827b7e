/**
 * Changes the sources of this build as they are loaded, so that a process runs another build: `node --import builds.ts?next`.
 *
 * @module
 */
import { readFileSync } from "node:fs"
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
  readonly from: string
  readonly to: string
}

/** In `builds.json`: what the next build adds, and the number of its protocol in another one. */
const { next, protocol } = JSON.parse(readFileSync(new URL("builds.json", import.meta.url), "utf8")) as Readonly<
  Record<"next" | "protocol", ReadonlyArray<Change>>
>

/** The changes of each build. */
export const changes: Readonly<Record<string, ReadonlyArray<Change>>> = { next, other: [...next, ...protocol] }

const changed = (source: string, { file, from, to }: Change): string => {
  if (!source.includes(from)) throw new Error(`${file} has no ${from} to change for another build`)
  // A function, because `to` has dollar signs.
  return source.replace(from, () => to)
}

const own = changes[new URL(import.meta.url).search.slice(1)]
if (own !== undefined) {
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      const change = own.find(({ file }) => url.endsWith(file))
      return change === undefined ? loaded : { ...loaded, source: changed(readFileSync(new URL(url), "utf8"), change) }
    }
  })
}
