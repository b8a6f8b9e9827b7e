import { expect, test } from "vitest"
import { cut } from "../src/errorText.ts"

test("WELL1 the text of an error that is cut keeps its surrogate pairs", () => {
  expect(cut("ab😀c", 4)).toBe("ab…")
  expect(cut("ab😀c", 5)).toBe("ab😀c")
})
