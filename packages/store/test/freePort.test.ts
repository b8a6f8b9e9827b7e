import { expect, test } from "vitest"
import { freePort } from "./double/freePort.ts"

test("FREEPORT1: a port for a server that listens later is none that an outgoing connection may take before", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort))
  expect(ports.filter((port) => port < 10_000 || port >= 32_768)).toEqual([])
  expect(new Set(ports).size).toBeGreaterThan(10)
})
