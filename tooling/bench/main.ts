/**
 * Troupe's cost, compared with the same work without Troupe, in the same run.
 *
 * `pnpm bench` measures all lines of chats. `pnpm bench chat A once` measures some of them. `pnpm bench otp` measures processes, `pnpm bench otp start` one of its lines.
 * `pnpm bench cluster` measures many nodes, `pnpm bench cluster costs` some of its figures.
 *
 * - `--rounds N`: the number of rounds, 3 by default
 * - `--profile FOLDER`: writes a CPU profile of each run to the folder
 *
 * The contenders run in processes of their own and take turns. A figure is calculated from medians, and that of failures is the
 * worst. The exit code is 1 when a figure exceeds its bound (`lines.ts`).
 */
import { parseArgs } from "node:util"
import { benchCluster } from "./cluster/bench.ts"
import { groups } from "./cluster/lines.ts"
import { contendersOf, lines, rowsOf } from "./lines.ts"
import { benchProcesses } from "./otp/table.ts"
import { runRounds } from "./rounds.ts"
import { costsOf, isGood, tableOf } from "./table.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string" }, profile: { type: "string" } }
})

const report = (line: string): void => void process.stderr.write(`${line}\n`)

const refuse = (problem: string): void => {
  report(problem)
  process.exitCode = 1
}

const benchChats = async (keys: ReadonlyArray<string>, rounds: number): Promise<void> => {
  const startedAt = performance.now()
  const names = contendersOf(keys)
  const results = await runRounds(names, rounds, report, values.profile)
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  console.log(`\nchats: medians of ${rounds} rounds, ${minutes} minutes; processor time\n`)
  const rows = rowsOf(keys, results)
  for (const line of [...tableOf(rows), "", ...costsOf(names, results)]) console.log(line)
  console.log("\nFAILS: beyond the bound. An aim is no condition. With 1,000 chats, 1 ms is 1 µs a chat.")
  if (!isGood(rows)) process.exitCode = 1
}

const [bench = "chat", ...keys] = positionals
const unknown = keys.filter((key) => !Object.hasOwn(lines, key))
const rounds = Number(values.rounds ?? 3)

if (!["chat", "otp", "cluster"].includes(bench)) refuse(`no bench is called ${bench}: name chat, otp or cluster`)
else if (!Number.isInteger(rounds) || rounds < 1) refuse(`--rounds ${values.rounds} is no number of rounds`)
else if (bench === "otp") {
  if (!(await benchProcesses(keys))) process.exitCode = 1
} else if (bench === "cluster") {
  const chosen = groups.filter((group) => keys.length === 0 || keys.includes(group))
  if (keys.some((key) => !groups.some((group) => group === key))) refuse(`name some of ${groups.join(", ")}`)
  else if (!(await benchCluster(chosen, rounds, report))) process.exitCode = 1
} else if (unknown.length > 0) {
  refuse(`no line is called ${unknown.join(" or ")}: name ${Object.keys(lines).join(", ")}`)
} else await benchChats(keys.length === 0 ? Object.keys(lines) : keys, rounds)
