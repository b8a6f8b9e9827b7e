/**
 * `pnpm release:templates`: checks the templates of `npm create troupe`. `pnpm release:templates next react` checks these only.
 *
 * @module
 */
import { CheckRun } from "../../packed/checkRun.ts"
import { withFolder, withRegistry } from "../registry.ts"
import { checkTemplates } from "./checkTemplates.ts"

const checks = new CheckRun()
await withRegistry(
  (registry) => withFolder((folder) => checkTemplates(checks, registry, folder, process.argv.slice(2))),
  (step) => void process.stdout.write(`${step}\n`)
)
checks.end()
