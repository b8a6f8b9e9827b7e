/** The options of the command line, and its errors. */
export { CliError } from "./cliError.ts"
export type { CliOptions, ObserveOptions } from "./cliOptions.ts"
