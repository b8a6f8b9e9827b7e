/**
 * Runs named checks and prints one line for each when it ends, with its seconds; the last line is the tally.
 *
 * @module
 */
import { tallyLine } from "../verify/tally.ts"

/** The problems that a check finds. */
export type Problems = Promise<ReadonlyArray<string>> | ReadonlyArray<string>

/** Prints the checks as they end, and counts them. */
export class CheckRun {
  #passed = 0
  #failed = 0

  /**
   * Runs one check. It passes when `body` returns no problem; a throw is a problem.
   *
   * **Details**: returns whether the check passed, for checks that need it.
   */
  async check(name: string, body: () => Problems): Promise<boolean> {
    const startedAt = performance.now()
    const problems = await Promise.resolve()
      .then(body)
      .catch((error: unknown) => [error instanceof Error ? error.message : String(error)])
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    const passed = problems.length === 0
    if (passed) this.#passed++
    else this.#failed++
    process.stdout.write(`${passed ? "ok    " : "FAILED"} ${name} (${seconds} s)\n`)
    for (const problem of problems) process.stdout.write(`         ${problem.replaceAll("\n", "\n         ")}\n`)
    return passed
  }

  /** Prints the tally, and makes the program fail when a check failed. */
  end(): void {
    process.stdout.write(`${tallyLine({ passed: this.#passed, failed: this.#failed, notRun: 0 })}\n`)
    process.exitCode = this.#failed === 0 && this.#passed > 0 ? 0 : 1
  }
}
