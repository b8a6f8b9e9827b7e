import { expect, test } from "vitest"
import { CellMap } from "../../src/kernel/cellMap.ts"
import { Process, System } from "../../src/index.ts"
import { sleeper } from "../double/inProcess.ts"

const keys = Array.from({ length: 40 }, (_, id) => ({ id }))

test("CELLS1 CELLS2 it has what a Map has, whatever is added, replaced and removed", () => {
  const cells = new CellMap<{ readonly id: number }, number>()
  const map = new Map<{ readonly id: number }, number>()
  let seed = 7
  for (let step = 0; step < 2_000; step++) {
    seed = (seed * 48_271) % 2_147_483_647
    const key = keys[seed % keys.length] ?? { id: 0 }
    if (seed % 3 === 0) expect(cells.delete(key)).toBe(map.delete(key))
    else {
      cells.set(key, step)
      map.set(key, step)
    }
    expect([cells.size, cells.has(key), cells.get(key)]).toEqual([map.size, map.has(key), map.get(key)])
  }
  expect(new Map(cells.entries)).toEqual(map)
  for (const key of cells) map.delete(key)
  expect(map.size).toBe(0)
})

test("CELLS1 another object of the same number is no entry", () => {
  const cells = new CellMap<{ readonly id: number }>()
  cells.add({ id: 3 })
  expect([cells.has({ id: 3 }), cells.delete({ id: 3 }), cells.size]).toEqual([false, false, 1])
})

test("CELLS3 the links of a process are in the order of their starts, and each is removed by its own end", async () => {
  const system = System.make()
  const parent = sleeper(system)
  const children = Array.from({ length: 30 }, () => Process.spawnLink(parent, () => new Promise(() => {})))
  expect(Process.info(parent)?.links).toEqual(children)
  for (const child of children.slice(5, 25)) Process.unlink(parent, child)
  expect(Process.info(parent)?.links).toEqual([...children.slice(0, 5), ...children.slice(25)])
  Process.kill(parent)
  expect(children.filter((child) => !Process.isAlive(child))).toEqual([...children.slice(0, 5), ...children.slice(25)])
  await System.stop(system)
})
