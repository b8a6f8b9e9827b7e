import { fileURLToPath } from "node:url"
import { System } from "@troupe/otp"
import { expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"

test("a service over standard streams answers, asks, and ends with its client", async () => {
  const system = System.make()
  const program = fileURLToPath(new URL("../double/stdioService.ts", import.meta.url))
  const elicit: Mcp.Elicit = () => ({ action: "accept", content: { answer: "Monday" } })
  const mcp = await Mcp.start(system, { command: process.execPath, args: [program] }, { elicit })
  expect(mcp.tools.map(({ name }) => name)).toEqual(["helper", "pid"])
  expect(mcp.instructions).toBe("Ask the helper.")
  expect(await call(mcp, "helper", { message: "Book" })).toMatchObject({ value: { text: "Done." } })
  const result = await call(mcp, "pid")
  const pid = result.type === "ok" ? Number(result.value) : 0
  expect(process.kill(pid, 0)).toBe(true)
  await System.stop(system)
  expect(() => process.kill(pid, 0)).toThrow("ESRCH")
})
