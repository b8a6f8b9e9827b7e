/**
 * Troupe's cost, compared with the same work without Troupe, in the same run.
 *
 * `pnpm bench` measures all lines of chats. `pnpm bench chat A pi` measures some of them. `pnpm bench otp` measures processes.
 * `pnpm bench cluster` measures many nodes, `pnpm bench cluster costs` some of its figures.
 *
 * - `--rounds N`: the number of rounds, 7 by default, and 3 for `cluster`
 * - `--profile FOLDER`: writes a CPU profile of each run to the folder
 *
 * The contenders run in processes of their own and take turns. A figure is a median, or the ratio of two medians. The exit
 * code is 1 when a figure exceeds its bound by more than the tolerance (`lines.ts`).
 */
import { parseArgs } from "node:util"
import { unpackBuilt } from "./built.ts"
import { benchCluster } from "./cluster/bench.ts"
import { groups } from "./cluster/lines.ts"
import { contenderOf } from "./contenders.ts"
import { contendersOf, type Line, lines } from "./lines.ts"
import { benchProcesses } from "./otp/table.ts"
import { runRounds } from "./rounds.ts"
import { costsOf, isGood, tableOf } from "./table.ts"
import { tolerance } from "./verdict.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string" }, profile: { type: "string" } }
})

const report = (line: string): void => void process.stderr.write(`${line}\n`)

const refuse = (problem: string): void => {
  report(problem)
  process.exitCode = 1
}

const benchChats = async (chosen: ReadonlyArray<Line>, rounds: number): Promise<void> => {
  const startedAt = performance.now()
  const names = contendersOf(chosen)
  const isBuilt = names.some((name) => contenderOf(name).isBuilt)
  if (isBuilt) report("packing the packages")
  using built = isBuilt ? await unpackBuilt() : undefined
  const results = await runRounds(names, { rounds, built: built?.path, profile: values.profile, report })
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  console.log(`\nchats: medians of ${rounds} rounds, ${minutes} minutes; processor time of all threads\n`)
  for (const row of [...tableOf(chosen, results), "", ...costsOf(names, results)]) console.log(row)
  console.log(`\nFAILS: beyond the bound by more than ${tolerance * 100} %. An aim is no condition.`)
  if (!isGood(chosen, results)) process.exitCode = 1
}

const [bench = "chat", ...keys] = positionals
const unknown = keys.filter((key) => lines.every((line) => line.key !== key))
const rounds = Number(values.rounds ?? (bench === "cluster" ? 3 : 7))

if (!["chat", "otp", "cluster"].includes(bench)) refuse(`no bench is called ${bench}: name chat, otp or cluster`)
else if (!Number.isInteger(rounds) || rounds < 1) refuse(`--rounds ${values.rounds} is no number of rounds`)
else if (bench === "otp") await benchProcesses()
else if (bench === "cluster") {
  const chosen = groups.filter((group) => keys.length === 0 || keys.includes(group))
  if (keys.some((key) => !groups.some((group) => group === key))) refuse(`name some of ${groups.join(", ")}`)
  else if (!(await benchCluster(chosen, rounds, report))) process.exitCode = 1
} else if (unknown.length > 0) {
  refuse(`no line is called ${unknown.join(" or ")}: name ${lines.map(({ key }) => key).join(", ")}`)
} else await benchChats(keys.length === 0 ? lines : lines.filter(({ key }) => keys.includes(key)), rounds)
