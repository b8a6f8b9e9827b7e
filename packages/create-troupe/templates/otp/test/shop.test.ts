import { GenServer, OtpError, System } from "@troupe/otp"
import { afterEach, beforeEach, expect, test } from "vitest"
import { addressOf, openShop, type Shop } from "../src/shop.ts"

let system: System.System
let shop: Shop

beforeEach(async () => {
  system = System.make({ silent: true })
  shop = await openShop(system)
})

afterEach(() => System.stop(system))

test("a product is taken until it is sold out", async () => {
  const plates = addressOf(shop, "plates")
  expect(await GenServer.call(plates, { take: 3 })).toBe("taken")
  expect(await GenServer.call(plates, { take: 3 })).toBe("sold out")
  expect(await GenServer.call(plates, "count")).toBe(1)
})

test("a process that crashes starts again with its first count, and the others keep theirs", async () => {
  const [mugs, plates] = [addressOf(shop, "mugs"), addressOf(shop, "plates")]
  await GenServer.call(mugs, { take: 1 })
  await GenServer.call(plates, { take: 1 })
  await expect(GenServer.call(mugs, { take: -1 })).rejects.toThrow(OtpError.CallExit)
  expect(await GenServer.call(mugs, "count")).toBe(10)
  expect(await GenServer.call(plates, "count")).toBe(3)
})
