/**
 * The time that a new user needs from `npm create troupe` to the first word of an answer.
 *
 * @module
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { failureOf, run } from "../../packed/program.ts"
import { first } from "./projects.ts"
import { scriptCommand, whileRunning } from "./project.ts"

/** Creates a project in a fresh folder, installs it, starts it and asks. Resolves with the seconds until the first word. */
export const firstWordSeconds = async (folder: string, shared: NodeJS.ProcessEnv): Promise<number> => {
  const fresh = join(folder, "fresh")
  mkdirSync(fresh)
  const env = { ...shared, npm_config_cache: join(fresh, "cache") }
  const startedAt = performance.now()
  const args = ["create", "--yes", "troupe@latest", "app", "--", "--template", first, "--install"]
  const [failure] = failureOf(await run("npm", args, fresh, env))
  if (failure !== undefined) throw new Error(failure)
  return whileRunning(scriptCommand("npm", "dev"), join(fresh, "app"), env, async ({ type, prints }) => {
    await prints("› ")
    type("Hello\n")
    await prints("Hello! ")
    return (performance.now() - startedAt) / 1_000
  })
}
