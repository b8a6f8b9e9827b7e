/** The BEAM's column: measured in the same run if `elixir` is on the path, else recorded. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { recordedOn } from "./lines.ts"
import type { BenchLine } from "./lines.ts"

const execute = promisify(execFile)
const script = fileURLToPath(new URL("beam.exs", import.meta.url))

/** Disables the busy waiting of schedulers, which would count as cost. */
const flags = ["--erl", "+sbwt none +sbwtdcpu none +sbwtdio none"]

/** The origin of the column, and the cost of a line; `undefined` for a line that is not measured there. */
export interface Beam {
  readonly source: string
  readonly costOf: (line: BenchLine) => Promise<number | undefined>
}

/** The version of Elixir; `undefined` if it is not on the path. */
const elixirVersion = (): Promise<string | undefined> =>
  execute("elixir", ["--short-version"]).then(
    ({ stdout }) => stdout.trim(),
    (error: unknown) => {
      if (Object(error).code !== "ENOENT") throw error
      return undefined
    }
  )

/** Finds Elixir. Each line runs in its own program, so many rounds after so many to warm up. */
export const findBeam = async (rounds: number, warmUps: number): Promise<Beam> => {
  const version = await elixirVersion()
  if (version === undefined) {
    return {
      source: `recorded, as elixir is not on the path: ${recordedOn}; the ratios to it are those of two machines`,
      costOf: (line) => Promise.resolve(line.beam)
    }
  }
  return {
    source: `measured in this run, each line right after ours, by Elixir ${version}`,
    costOf: async ({ key, count, beam }) => {
      if (beam === undefined) return undefined
      const args = [...flags, script, key, `${count}`, `${rounds}`, `${warmUps}`]
      const { stdout } = await execute("elixir", args)
      return Number(stdout.trim())
    }
  }
}
