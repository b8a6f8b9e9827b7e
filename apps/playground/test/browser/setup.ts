/** Before the browser tests: the browser is there, and the page is built. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { build } from "vite"

const folder = join(import.meta.dirname, "../..")

/** Runs once, before the first test. */
export const setup = async (): Promise<void> => {
  if (process.env["CHROMIUM_PATH"] === undefined) execFileSync(join(folder, "../../.ci/browser"), { stdio: "inherit" })
  await build({ root: folder, configFile: join(folder, "vite.config.ts"), logLevel: "warn" })
}
