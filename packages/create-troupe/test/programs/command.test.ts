import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { run, temporaryFolder } from "../double/scaffold.ts"

const main = join(import.meta.dirname, "../../src/main.ts")

const create = (cwd: string, ...args: ReadonlyArray<string>) => run(process.execPath, [main, ...args], cwd)

test("a project is written, and the next commands are printed", async () => {
  using folder = temporaryFolder()
  const { code, output } = await create(
    folder.path,
    "my shop",
    "--template",
    "server",
    "--provider",
    "openai",
    "--manager",
    "npm"
  )
  expect(code).toBe(0)
  expect(output).toContain('cd "my shop"\n  npm install\n  cp .env.example .env')
  expect(output).toContain("npm run dev")
  expect(existsSync(join(folder.path, "my shop/src/app.ts"))).toBe(true)
})

test("CREATE1. a second project in the same folder is refused with one line", async () => {
  using folder = temporaryFolder()
  await create(folder.path, "shop", "--yes")
  const { code, output } = await create(folder.path, "shop", "--yes")
  expect(code).toBe(1)
  expect(output).toMatch(/^create-troupe: .*shop has files already: name a new folder, or empty this one first\.\n$/)
})

test("without a terminal, a template must be given, and nothing is written", async () => {
  using folder = temporaryFolder()
  const { code, output } = await create(folder.path, "shop")
  expect({ code, output }).toEqual({
    code: 1,
    output: "create-troupe: There is no terminal to ask in: pass --template, or --yes for the default.\n"
  })
  expect(readdirSync(folder.path)).toEqual([])
})

test("a failed installation is one line, and the project is complete", async () => {
  using folder = temporaryFolder()
  // In a checkout, the dependencies are references to its workspace, which npm refuses.
  const { code, output } = await create(folder.path, "shop", "--yes", "--install", "--manager", "npm")
  expect(code).toBe(1)
  expect(output).toContain("create-troupe: The project is complete, but npm install failed: run it again in ")
  expect(existsSync(join(folder.path, "shop/package.json"))).toBe(true)
})

test("--help prints the options", async () => {
  using folder = temporaryFolder()
  const { code, output } = await create(folder.path, "--help")
  expect(code).toBe(0)
  expect(output).toContain("--template   terminal, server, next, react, team, otp, cluster")
})
