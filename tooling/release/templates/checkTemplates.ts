/**
 * Creates a project of each template from the registry on loopback, as a user does, and uses it.
 *
 * **Details**: the first project is timed from an empty cache of npm to the first word of an answer. Each project is installed,
 * tested, type-checked, linted and built, and then it runs: behind HTTP, in a terminal, or in a browser. Two are used side by
 * side.
 *
 * CREATE3. From `npm create troupe` in a fresh folder, without a cache, to the first word of an answer takes at most two minutes.
 *
 * @module
 */
import { join } from "node:path"
import { findBrowser, installCommand, launch } from "../../../apps/playground/test/browser/findBrowser.ts"
import { root } from "../../house/workspace.ts"
import type { CheckRun } from "../../packed/checkRun.ts"
import type { Registry } from "../registry.ts"
import { firstWordSeconds } from "./firstWord.ts"
import { createProject, scriptProblems } from "./project.ts"
import { type Project, projects } from "./projects.ts"
import type { Place } from "./visits.ts"

/** The longest time from `npm create` to the first word of an answer, in seconds. */
const firstWordBound = 120

const pictures = join(root, "tooling/dist/templates")

const checkFirstWord = async (checks: CheckRun, folder: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const { title, found } = await firstWordSeconds(folder, env).then(
    (seconds) => ({ title: `${seconds.toFixed(1)} s`, found: seconds <= firstWordBound ? [] : ["it is too late"] }),
    (error: unknown) => ({ title: "no word", found: [String(error)] })
  )
  const timed = `CREATE3 npm create troupe, from an empty cache to the first word of an answer: ${title}`
  await checks.check(`${timed}, at most ${firstWordBound} s`, () => found)
}

const checkProject = async (
  checks: CheckRun,
  { name, options, scripts, visit }: Project,
  place: Omit<Place, "manager">
): Promise<void> => {
  const { project, env } = place
  const check = (what: string, body: () => Promise<ReadonlyArray<string>>) =>
    checks.check(`CREATE2 ${name}: ${what}`, body)
  if (!(await check("is created and installed", () => createProject(project, options, env)))) return
  for (const script of scripts) {
    await check(`run ${script}`, () => scriptProblems(project, options.manager, script, env))
  }
  await check("runs", () => visit({ ...place, manager: options.manager }))
}

/** Checks the templates in an empty folder. `chosen` has the names of those that are checked; all, if it is empty. */
export const checkTemplates = async (
  checks: CheckRun,
  registry: Registry,
  folder: string,
  chosen: ReadonlyArray<string> = []
): Promise<void> => {
  const found = await findBrowser()
  if (found === undefined) throw new Error(`The templates are opened in a browser. Install one: ${installCommand}`)
  await using browser = await launch(found)
  const env = { ...registry.env, NEXT_TELEMETRY_DISABLED: "1", NO_COLOR: "1", CI: "1" }
  await checkFirstWord(checks, folder, env)
  const waiting = projects.filter(({ name }) => chosen.length === 0 || chosen.includes(name))
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await checkProject(checks, next, { project: join(folder, next.name), env, browser, pictures })
    }
  }
  await Promise.all([work(), work()])
}
