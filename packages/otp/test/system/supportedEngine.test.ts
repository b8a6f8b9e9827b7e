import { expect, test } from "vitest"
import { System } from "../../src/index.ts"

test("on an engine without a function that the packages call, the first system says which version to install", () => {
  const { groupBy } = Object
  try {
    Reflect.set(Object, "groupBy", undefined)
    expect(() => System.make()).toThrow(
      `Troupe needs Node 22.19 or later, or a browser of 2025: Node ${process.version} has no Object.groupBy. Install a newer version.`
    )
  } finally {
    Object.groupBy = groupBy
  }
})
