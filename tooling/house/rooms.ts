/**
 * Reads the imports between the rooms of a package, and checks them against the table of rooms.
 *
 * @module
 */
import { dirname, join, normalize } from "node:path"
import { factsOf } from "./moduleFacts.ts"
import type { Floors } from "./roomTable.ts"
import { files, readText } from "./workspace.ts"

/** The files that each TypeScript file below a folder imports by path, type imports included, by its path from the root. */
const importGraph = (folder: string): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    files(`${folder}/**/*.{ts,tsx}`).map((path) => [
      path,
      factsOf(readText(path))
        .imports.filter((specifier) => specifier.startsWith("."))
        .map((specifier) => normalize(join(dirname(path), specifier)))
    ])
  )

/** The room of a file: its folder below `src`; empty for a door at the top. */
export const roomOf = (folder: string, path: string): string => {
  const room = dirname(path.slice(`${folder}/src/`.length))
  return room === "." ? "" : room
}

/** The floor of each room, from 0. */
const floorsOf = (floors: Floors): ReadonlyMap<string, number> =>
  new Map(floors.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)))

/** The imports of a package that do not lead to a lower floor, as `from: to` lines, and the rooms without a row. */
export const floorComplaints = (folder: string, floors: Floors): ReadonlyArray<string> => {
  const floorOf = floorsOf(floors)
  const complaints = new Set<string>()
  for (const [path, imported] of importGraph(`${folder}/src`)) {
    const room = roomOf(folder, path)
    const floor = room === "" ? Number.POSITIVE_INFINITY : floorOf.get(room)
    if (floor === undefined) complaints.add(`${folder}/src/${room} has no row in the table of rooms`)
    for (const target of imported) {
      if (!target.startsWith(`${folder}/src/`)) continue
      const other = roomOf(folder, target)
      if (other === room) continue
      const below = other === "" ? Number.POSITIVE_INFINITY : (floorOf.get(other) ?? -1)
      if (floor !== undefined && below >= floor)
        complaints.add(`${path.slice(folder.length + 5)}: ${other}/ (${target})`)
    }
  }
  return [...complaints]
}

/** The named imports from another room that bypass its `index.ts`; `import * as` may name the file of a module. */
export const doorComplaints = (folder: string): ReadonlyArray<string> =>
  files(`${folder}/src/**/*.{ts,tsx}`)
    .filter((path) => roomOf(folder, path) !== "")
    .flatMap((path) =>
      [...readText(path).matchAll(/^(?:import|export)(?: type)? \{[^}]*\} from "(\.[^"]+)"/gm)]
        .map(([, specifier = ""]) => normalize(join(dirname(path), specifier)))
        .filter((target) => target.startsWith(`${folder}/src/`) && roomOf(folder, target) !== roomOf(folder, path))
        .filter((target) => !/\/index\.tsx?$/.test(target))
        .map((target) => `${path}: ${target}`)
    )
