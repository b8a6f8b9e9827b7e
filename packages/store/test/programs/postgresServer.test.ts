import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"

test("when a program that can start a PostgreSQL server has set its exit code, then it exits with this code", () => {
  const double = new URL("../double/postgresServer.ts", import.meta.url).href
  const program = `await import(${JSON.stringify(double)}); process.exitCode = 3`
  expect(spawnSync(process.execPath, ["--input-type=module", "-e", program]).status).toBe(3)
})
