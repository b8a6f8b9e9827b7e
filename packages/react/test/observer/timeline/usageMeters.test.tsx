// @vitest-environment jsdom
import { cleanup } from "@testing-library/react"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { UsageMeters } from "../../../src/index.ts"
import { show } from "../screen.ts"

beforeEach(() => void vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const cost = () => document.querySelector<HTMLElement>('[data-kind="cost"] dd')

test("CACHE1: the meters show the cached tokens apart, with their own price", async () => {
  const usage = { inputTokens: 1_000_000, cachedInputTokens: 900_000, outputTokens: 0 }
  await show(<UsageMeters usage={usage} prices={{ input: 10, cachedInput: 1, output: 20 }} />)
  const shown = (kind: string) => document.querySelector(`[data-kind="${kind}"] dd`)?.textContent
  expect([shown("fresh"), shown("cached"), shown("cost")]).toEqual(["100K", "900K", "$1.90"])
})

test("the meters show the cost in the usage, and mark it when requests have no price", async () => {
  await show(<UsageMeters usage={{ inputTokens: 10, totalCost: 1.5 }} />)
  expect(cost()?.textContent).toBe("$1.50")
  cleanup()
  await show(<UsageMeters usage={{ inputTokens: 10, totalCost: 1.5, unpricedRequests: 2 }} />)
  expect(cost()?.textContent).toBe("≥ $1.50")
  expect(cost()?.title).toBe("2 requests have no price")
  cleanup()
  await show(<UsageMeters usage={{ inputTokens: 10 }} />)
  expect(cost()).toBeNull()
})
