import { describe, expect, test } from "vitest"
import { roomTable } from "../../house/roomTable.ts"
import { files } from "../../house/workspace.ts"
import { doorComplaints, floorComplaints, roomOf } from "../../house/rooms.ts"

const tabled = Object.entries(roomTable)

describe("the rooms of a package", () => {
  test.each(tabled)("%s: a room imports only rooms of lower floors, type imports included", (folder, floors) => {
    expect(floorComplaints(folder, floors)).toEqual([])
  })

  test.each(tabled)("%s: a named import of another room goes through its index.ts", (folder) => {
    expect(doorComplaints(folder)).toEqual([])
  })

  test.each(tabled)("%s: a room has at most fifteen files", (folder) => {
    const rooms = Object.groupBy(files(`${folder}/src/**/*.{ts,tsx}`), (path) => roomOf(folder, path))
    expect(Object.entries(rooms).filter(([room, paths = []]) => room !== "" && paths.length > 15)).toEqual([])
  })
})
