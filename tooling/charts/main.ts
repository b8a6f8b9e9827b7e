/**
 * Draws the charts of `@troupe/chat` into `docs/charts`. A test compares the files with the machines.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { drawings } from "./charts.ts"

for (const { file, text } of drawings()) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  console.log(file)
}
