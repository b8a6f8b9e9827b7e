/**
 * Writes the tables of `docs/protocols.md`. A test compares the page with the server.
 *
 * @module
 */
import { writeFileSync } from "node:fs"
import { pageFile, pageNow } from "./page.ts"

writeFileSync(pageFile, (await pageNow()).page)
console.log(pageFile)
