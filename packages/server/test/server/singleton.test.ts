import { expect, test } from "vitest"
import { singleton } from "../../src/server/singleton.ts"

/** Another copy of the module, as a development server loads it after a change. */
const again = async (): Promise<typeof singleton> => {
  const path = "../../src/server/singleton.ts?again"
  const loaded = (await import(path)) as { readonly singleton: typeof singleton }
  return loaded.singleton
}

test("a value is made once, also when the module is loaded again", async () => {
  const made = singleton("test.once", () => ({}))
  const other = await again()
  expect(other).not.toBe(singleton)
  expect(other("test.once", () => ({}))).toBe(made)
  expect(singleton("test.other", () => ({}))).not.toBe(made)
})

test("a promise that rejects is made again", async () => {
  let starts = 0
  const start = () =>
    singleton("test.rejects", () => {
      starts += 1
      return starts === 1 ? Promise.reject(new Error("no store")) : Promise.resolve(starts)
    })
  await expect(start()).rejects.toThrow("no store")
  expect(await start()).toBe(2)
  expect(await start()).toBe(2)
})
