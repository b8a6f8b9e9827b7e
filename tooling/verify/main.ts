/**
 * `pnpm verify`: the tests, beside the checks that read sources. `pnpm verify:full` runs everything at full volume. The last
 * line is `N passed, N failed`.
 *
 * **Details**: a failing check is printed in full; the others still run. A counted check adds its own numbers, another check
 * adds one failure when it fails. `--tested` leaves out the tests that `pnpm test` has run with the same `TROUPE_SEED`.
 *
 * @module
 */
import { full, quick } from "./checks.ts"
import type { Check } from "./checks.ts"
import { type CheckResult, runLanes } from "./run.ts"
import { sumOf, tallyLine } from "./tally.ts"

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const timesOf = ({ seconds, processorSeconds }: Pick<CheckResult, "seconds" | "processorSeconds">): string =>
  `${seconds.toFixed(1)} s${processorSeconds === undefined ? "" : `, processor ${processorSeconds.toFixed(1)} s`}`

/** Of a counted check that passed, the end of the output is shown: its slowest parts and its tally. */
const report = ({ isCounted }: Check, result: CheckResult): void => {
  print(`${result.ok ? "ok    " : "FAILED"} ${result.name} (${timesOf(result)})`)
  const lines = result.output.trimEnd().split("\n")
  if (!result.ok) print(result.output)
  else if (isCounted)
    print(
      lines
        .slice(-14)
        .map((line) => `         ${line}`)
        .join("\n")
    )
}

process.env["TROUPE_SEED"] ??= String(process.pid % 5)
const startedAt = performance.now()
const phases = process.argv.includes("--full") ? full(process.argv.includes("--tested")) : [quick()]
const results: Array<CheckResult> = []
for (const lanes of phases) results.push(...(await runLanes(lanes, report)))

print("\nwhat each check took:")
for (const result of results) print(`${result.ok ? "ok    " : "FAILED"} ${result.name}: ${timesOf(result)}`)
for (const { name, ok, output } of results)
  for (const line of output.match(/^failed: .*$/gm) ?? (ok ? [] : [`failed: ${name}`])) print(line)
const seconds = (performance.now() - startedAt) / 1000
const processorSeconds = results.reduce((sum, one) => sum + (one.processorSeconds ?? 0), 0)
print(`all: ${timesOf({ seconds, processorSeconds })}`)
const tally = sumOf(results.map((result) => result.tally))
print(tallyLine(tally))
process.exitCode = tally.failed === 0 ? 0 : 1
