/**
 * A library's public names, read from its sources without running them.
 *
 * @module
 */
import { dirname, join } from "node:path"
import { memoOf } from "./memo.ts"
import { factsOf } from "./moduleFacts.ts"
import type { ExportedName } from "./moduleFacts.ts"
import { exists, readJson, readText } from "./workspace.ts"
import type { Manifest } from "./workspace.ts"

/** One public name and its module. */
export interface PublicName extends ExportedName {
  readonly module: string
}

/** The public modules of a library, without its styles: the subpath of each entry of its `exports` (`index` for the root), and its file. */
export const publicModules = (folder: string): ReadonlyArray<{ readonly module: string; readonly path: string }> =>
  Object.entries(readJson<Manifest>(`${folder}/package.json`).exports ?? {})
    .filter(([subpath]) => !subpath.endsWith(".css"))
    .map(([subpath, target]) => ({
      module: subpath === "." ? "index" : subpath.slice(2),
      path: join(folder, String(target))
    }))

/**
 * Every name of every public module of a library, sorted by module and name. A namespace is listed by its members, as
 * `Session.start`.
 */
export const publicNames = memoOf((folder): ReadonlyArray<PublicName> =>
  publicModules(folder)
    .flatMap(({ module, path }) =>
      namesOf(path)
        .flatMap((found) => membersOf(path, found))
        .map((found) => ({ ...found, module }))
    )
    .toSorted((left, right) => compare(left.module, right.module) || compare(left.name, right.name))
)

/** The problem of a public name's doc comment, if any; a name of another package has its comment there. */
export const docComplaint = (name: PublicName): string | undefined => {
  const isForeign = name.from !== undefined && !name.from.source.startsWith(".")
  if (name.kind === "namespace" || isForeign) return undefined
  if (name.doc === undefined) return "has no doc comment"
  const opening = name.doc.split(/\n\s*\n/)[0] ?? ""
  if (opening.startsWith("@")) return "opens with a tag instead of a sentence"
  return /[.:]`?$/.test(opening.trim()) || /\.\s/.test(opening) ? undefined : "does not open with a sentence"
}

/** The members of an exported namespace of our own; any other export stands for itself. */
const membersOf = (path: string, found: ExportedName): ReadonlyArray<ExportedName> => {
  const source = found.from?.source
  if (found.kind !== "namespace" || source === undefined || !source.startsWith(".")) return [found]
  return namesOf(join(dirname(path), source)).map((member) => ({
    ...member,
    kind: found.typesOnly === true ? "type" : member.kind,
    name: `${found.name}.${member.name}`
  }))
}

const namesOf = (path: string): ReadonlyArray<ExportedName> =>
  factsOf(readText(path)).exports.flatMap((found) => {
    const source = found.from?.source
    if (source === undefined || !source.startsWith(".") || found.kind === "namespace") return [found]
    const target = join(dirname(path), source)
    if (!exists(target)) return [found]
    const there = namesOf(target)
    if (found.kind === "everything") return there
    const declared = there.find((one) => one.name === found.from?.name)
    return [
      {
        ...found,
        kind: found.kind === "type" ? "type" : (declared?.kind ?? found.kind),
        doc: found.doc ?? declared?.doc
      }
    ]
  })

const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)
