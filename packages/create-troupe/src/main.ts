#!/usr/bin/env node
/**
 * `npm create troupe`.
 *
 * @module
 */
import { CreateError } from "./CreateError.ts"

/** The oldest Node that runs a template. */
const oldest = [22, 19] as const

const checkNode = (): void => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return
  const message = `Troupe needs Node ${oldest.join(".")} or later, and this is Node ${process.versions.node}.`
  throw new CreateError("old_node", `${message} Install a newer one from https://nodejs.org.`)
}

try {
  checkNode()
  const { runProgram } = await import("./program.ts")
  await runProgram(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof CreateError)) throw error
  process.stderr.write(`create-troupe: ${error.message}\n`)
  process.exitCode = 1
}
