/**
 * Reads the imports between the rooms of a package, and checks them against the table of rooms.
 *
 * @module
 */
import { dirname, join, normalize } from "node:path"
import { factsOf } from "./moduleFacts.ts"
import type { Floors } from "./roomTable.ts"
import { files, readText } from "./workspace.ts"

/** The room of a file: its folder below `src`; empty for a door at the top. */
export const roomOf = (folder: string, path: string): string => {
  const room = dirname(path.slice(`${folder}/src/`.length))
  return room === "." ? "" : room
}

/** The imports of a package that do not lead to a lower floor, as `from: to` lines, and the rooms without a row. */
export const floorComplaints = (folder: string, floors: Floors): ReadonlyArray<string> => {
  const floorOf = (room: string): number =>
    room === "" ? floors.length : floors.findIndex((rooms) => rooms.includes(room))
  const complaints = new Set<string>()
  for (const path of files(`${folder}/src/**/*.{ts,tsx}`)) {
    const room = roomOf(folder, path)
    const floor = floorOf(room)
    if (floor < 0) complaints.add(`${folder}/src/${room} has no row in the table of rooms`)
    for (const specifier of factsOf(readText(path)).imports) {
      const target = normalize(join(dirname(path), specifier))
      if (!specifier.startsWith(".") || !target.startsWith(`${folder}/src/`)) continue
      const other = roomOf(folder, target)
      if (other !== room && floor >= 0 && floorOf(other) >= floor)
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
