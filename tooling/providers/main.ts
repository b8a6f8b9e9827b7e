/**
 * Writes the tables of `docs/providers.md`. A test compares the page with the packages.
 *
 * @module
 */
import { writeFileSync } from "node:fs"
import { featureRows, pageFile, pageWith } from "./page.ts"

writeFileSync(pageFile, await pageWith(await featureRows()))
console.log(pageFile)
