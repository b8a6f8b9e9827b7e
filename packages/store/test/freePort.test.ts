import { expect, test } from "vitest"
import { freePort } from "./double/freePort.ts"

test("FREEPORT1, FREEPORT2: a port for a server that listens later is none that an outgoing connection may take before, and is given once", async () => {
  const ports: Array<number> = []
  while (ports.length < 500) ports.push(await freePort())
  expect(ports.filter((port) => port < 10_000 || port >= 32_768)).toEqual([])
  expect(new Set(ports).size).toBe(ports.length)
})
