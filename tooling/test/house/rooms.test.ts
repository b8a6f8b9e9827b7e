import { describe, expect, test } from "vitest"
import { roomTable } from "../../house/roomTable.ts"
import { workspacePackages } from "../../house/workspace.ts"
import { circlesOf, doorComplaints, floorComplaints, importGraph, roomOf } from "../../house/rooms.ts"

const tabled = Object.entries(roomTable)

describe("the rooms of a package", () => {
  test.each(tabled)("%s: a room imports only rooms of lower floors, type imports included", (folder, floors) => {
    expect(floorComplaints(folder, floors)).toEqual([])
  })

  test.each(tabled)("%s: a named import of another room goes through its index.ts", (folder) => {
    expect(doorComplaints(folder)).toEqual([])
  })

  test.each(tabled)("%s: a room has at most fifteen files", (folder) => {
    const rooms = Object.groupBy(importGraph(`${folder}/src`).keys(), (path) => roomOf(folder, path))
    expect(Object.entries(rooms).filter(([room, paths = []]) => room !== "" && paths.length > 15)).toEqual([])
  })
})

test.each(workspacePackages())(
  "$folder: no files import each other in a circle, type imports included",
  ({ folder }) => {
    expect(circlesOf(importGraph(folder))).toEqual([])
  }
)

test("the circles of a graph are found, each once, and a file that imports itself is none", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", ["a"]],
    ["d", ["e"]],
    ["e", ["d", "f"]],
    ["f", ["f", "outside"]]
  ])
  expect(circlesOf(graph)).toEqual([
    ["d", "e"],
    ["a", "b", "c"]
  ])
})
