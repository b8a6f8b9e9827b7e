/**
 * Reads the imports between the rooms of a package, and checks them against the table of rooms.
 *
 * @module
 */
import { dirname, join, normalize } from "node:path"
import { importsOf } from "./moduleFacts.ts"
import type { Floors } from "./roomTable.ts"
import { files, readText } from "./workspace.ts"

/** The files that each file of a folder imports by path, type imports included, by the file's path from the root. */
export type ImportGraph = ReadonlyMap<string, ReadonlyArray<string>>

/** Reads the imports of every TypeScript file below a folder. */
export const importGraph = (folder: string): ImportGraph =>
  new Map(
    files(`${folder}/**/*.{ts,tsx}`).map((path) => [
      path,
      importsOf(readText(path))
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => normalize(join(dirname(path), specifier)))
    ])
  )

/** The groups of files that import each other in a circle, each sorted. */
export const circlesOf = (graph: ImportGraph): ReadonlyArray<ReadonlyArray<string>> => {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: Array<string> = []
  const circles: Array<ReadonlyArray<string>> = []
  const visit = (file: string): number => {
    const number = order.size
    order.set(file, number)
    lowest.set(file, number)
    open.push(file)
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue
      const reached = order.has(next) ? (open.includes(next) ? (order.get(next) ?? number) : number) : visit(next)
      lowest.set(file, Math.min(lowest.get(file) ?? number, reached))
    }
    const low = lowest.get(file) ?? number
    if (low === number) {
      const circle = open.splice(open.indexOf(file))
      if (circle.length > 1) circles.push(circle.toSorted())
    }
    return low
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return circles
}

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
