/**
 * `pnpm release:templates`: creates a project of each template from the registry on loopback, as a user does, and uses it.
 *
 * **Details**: the first project is timed from an empty cache of npm to the first word of an answer. The others share the cache.
 * Each is installed, tested, type-checked, linted and built, and then it runs: behind HTTP, in a terminal, or in a browser.
 * Two projects are used side by side. `pnpm release:templates next react` uses these only.
 *
 * CREATE3. From `npm create troupe` in a fresh folder, without a cache, to the first word of an answer takes at most two minutes.
 *
 * @module
 */
import { join } from "node:path"
import { launch, findBrowser, installCommand } from "../../../apps/playground/test/browser/findBrowser.ts"
import { root } from "../../house/workspace.ts"
import { CheckRun } from "../../packed/checkRun.ts"
import { withFolder, withRegistry } from "../registry.ts"
import { projects } from "./projects.ts"
import { createProject, scriptProblems } from "./project.ts"
import { firstWordSeconds } from "./firstWord.ts"

/** The longest time from `npm create` to the first word of an answer, in seconds. */
const firstWordBound = 120

const chosen = process.argv.slice(2)
const place = await findBrowser()
if (place === undefined) throw new Error(`The templates are opened in a browser. Install one: ${installCommand}`)
const browser = await launch(place)
const checks = new CheckRun()

await withRegistry(
  (registry) =>
    withFolder(async (folder) => {
      const env = { ...registry.env, NEXT_TELEMETRY_DISABLED: "1", NO_COLOR: "1", CI: "1" }
      const { title, found } = await firstWordSeconds(folder, env).then(
        (seconds) => ({ title: `${seconds.toFixed(1)} s`, found: seconds <= firstWordBound ? [] : ["it is too late"] }),
        (error: unknown) => ({ title: "no word", found: [String(error)] })
      )
      const timed = `CREATE3 npm create troupe, from an empty cache to the first word of an answer: ${title}`
      await checks.check(`${timed}, at most ${firstWordBound} s`, () => found)
      const waiting = projects.filter(({ name }) => chosen.length === 0 || chosen.includes(name))
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const { name, options, scripts, visit } = next
          const project = join(folder, name)
          const check = (what: string, body: () => Promise<ReadonlyArray<string>>) =>
            checks.check(`CREATE2 ${name}: ${what}`, body)
          if (!(await check("is created and installed", () => createProject(project, options, env)))) continue
          for (const script of scripts)
            await check(`run ${script}`, () => scriptProblems(project, options.manager, script, env))
          await check("runs", () =>
            visit({ project, manager: options.manager, env, browser, pictures: join(root, "tooling/dist/templates") })
          )
        }
      }
      await Promise.all([work(), work()])
    }),
  (step) => void process.stdout.write(`${step}\n`)
)
await browser.close()
checks.end()
