/** The command line of `cluster`. */
import { parseArgs } from "node:util"

/** The options of the command: whether the page is opened in a browser, and the lease of the homes. */
export interface ClusterCommand {
  readonly open: boolean
  readonly leaseMs: number
}

/** A shorter lease would end at once, and Node's timers count no longer one. */
const [shortest, longest] = [100, 2 ** 31 - 1]

/**
 * Reads the arguments after the program's name.
 *
 * **Units and defaults**: `open` is `opens`, and `leaseMs` 3,000.
 *
 * **Errors**: throws an `Error` of one line.
 */
export const parseCommand = (args: ReadonlyArray<string>, opens: boolean): ClusterCommand => {
  const { open, lease } = valuesIn(args.filter((word) => word !== "--"))
  const leaseMs = Number(lease)
  if (!Number.isSafeInteger(leaseMs) || leaseMs < shortest || leaseMs > longest)
    throw new Error(`--lease must be a whole number of milliseconds from ${shortest} to ${longest}, not "${lease}"`)
  return { open: open ?? opens, leaseMs }
}

const valuesIn = (args: Array<string>) => {
  try {
    return parseArgs({
      args,
      options: { open: { type: "boolean" }, lease: { type: "string", default: "3000" } },
      allowNegative: true
    }).values
  } catch (error) {
    const [problem] = (error instanceof Error ? error.message : String(error)).split(/\.\s|\n/u)
    throw new Error(`${problem}; the options are --lease <milliseconds>, --open and --no-open`, { cause: error })
  }
}
