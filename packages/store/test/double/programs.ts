/** Programs beside the test's own. */
import { spawn } from "node:child_process"
import { once } from "node:events"

/** The package, as such a program imports it. */
export const source = new URL("../../src/index.ts", import.meta.url).href

/** Runs the text of a module with these arguments; what it said once it is over. */
export const run = async (text: string, ...argv: ReadonlyArray<string>): Promise<string> => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", text, ...argv])
  let said = ""
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
  await once(child, "close")
  return said.trim()
}
