/** Projects in a folder of their own, which resolve the packages of this workspace. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Choices, lists } from "../../src/choices.ts"
import { writeProject } from "../../src/project.ts"

const workspace = join(import.meta.dirname, "../..")

/** The first value of each list. */
export const defaults: Choices = {
  template: lists.template[0],
  provider: lists.provider[0],
  store: lists.store[0],
  manager: lists.manager[0]
}

/** A folder that is deleted at the end of its scope. */
export const temporaryFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "troupe-create-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Writes projects below a folder, each under the name of its template, without an installation. */
export const scaffold = (folder: string, choices: ReadonlyArray<Choices>): ReadonlyArray<string> => {
  symlinkSync(join(workspace, "node_modules"), join(folder, "node_modules"), "junction")
  return choices.map((chosen) => writeProject(join(folder, chosen.template), chosen))
}

/** The path of a program among the dependencies. */
export const program = (name: string): string => join(workspace, "node_modules/.bin", name)

/** An ended program. */
export interface Ended {
  readonly code: number | string | null | undefined
  readonly output: string
}

/** Runs a program to its end, without a terminal. */
export const run = (command: string, args: ReadonlyArray<string>, cwd: string): Promise<Ended> =>
  new Promise((resolve) => {
    const running = execFile(command, [...args], { cwd, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, output: `${stdout}${stderr}` })
    )
    running.stdin?.end()
  })
