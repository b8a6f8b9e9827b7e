/** The flags and variables of a host that reach the places of its calls. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"

const program = new URL("../double/flagged.ts", import.meta.url)
const file = fileURLToPath(program)
let directory = ""

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "troupe-"))
  writeFileSync(join(directory, "secret.env"), "SECRET_OF_THIS_TEST=of-the-file\n")
  writeFileSync(join(directory, "preload.cjs"), 'process.env.SECRET_OF_THIS_TEST = "of-the-preload"\n')
})
afterAll(() => rmSync(directory, { recursive: true }))

/** What a host with these arguments writes. */
const outputOf = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): Promise<unknown> => {
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } })
  return JSON.parse(stdout)
}

/** The results of a thread and of a child that have no secret, and no flags of the host but these. */
const resultsWith = (...flags: ReadonlyArray<string>): ReadonlyArray<string> =>
  [flags, [...flags, "--max-old-space-size=512"]].map((found) => JSON.stringify({ secret: null, flags: found }))

test("FLAG1 a host of --eval=code runs its code once, and its calls complete", async () => {
  // A place that runs this code again sees the variable, which is in the default list, and exits: no third program starts.
  const once = "if (process.env.LC_TROUPE_TEST) process.exit(3); process.env.LC_TROUPE_TEST = '1'"
  const code = `${once}; const { report } = await import(${JSON.stringify(program.href)}); await report()`
  expect(await outputOf(["--input-type=module", `--eval=${code}`])).toEqual(resultsWith())
})

test("FLAG1 the variables of the host's --env-file and its debugger do not reach a place", async () => {
  const flags = ["--inspect=0", `--env-file=${join(directory, "secret.env")}`]
  expect(await outputOf([...flags, file])).toEqual(resultsWith())
})

test("ISO7 a module that is preloaded adds no variable, and a debugger in NODE_OPTIONS reaches no place", async () => {
  const preload = ["--require", join(directory, "preload.cjs")]
  expect(await outputOf([...preload, file], { NODE_OPTIONS: "--inspect=0" })).toEqual(resultsWith(...preload))
})
