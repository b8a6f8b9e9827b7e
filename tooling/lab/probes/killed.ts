/**
 * Ends the program of a framework by `kill -9`, and starts it again.
 *
 * `node killed.ts <module> <folder> <when> <life>` is that program. It is killed in its first life, and continues in its second.
 * `when` is `between`, after a write and before the next reply of the child, or `during`, after the effect of a write whose result is
 * not known.
 */
import { appendFileSync, existsSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { launch } from "../child.ts"
import { settlesWithin } from "../delays.ts"
import { endOf } from "./accident.ts"
import type { Ended, Framework } from "./framework.ts"
import { charge, gives, says, uses } from "./model.ts"

const longestMs = 30_000

/** The ledger of writes is a file outside of what is killed. */
const ledgerIn = (folder: string): string => join(folder, "ledger")

/** The program that starts this one kills it at that time. */
const now = (): Promise<never> => {
  writeSync(1, "now\n")
  return new Promise(() => {})
}

const live = async (module = "", folder = "", when = "", life = ""): Promise<void> => {
  const { framework } = (await import(module)) as { readonly framework: Framework }
  const isFirst = life === "1"
  const model = uses("c1", "charge", () => {
    if (isFirst) void now()
    return isFirst ? [{ hang: true }] : says("found")
  })
  const effect = (): void => appendFileSync(ledgerIn(folder), "charge\n")
  const tools = [charge(effect, isFirst && when === "during" ? now : undefined)]
  const boss = { model: gives({ c0: "research" }), agents: ["research"] }
  const company = await framework.start({ roles: { boss, research: { model, tools } } }, folder)
  const ended = await endOf(isFirst ? company.send("go") : company.retry?.(), Infinity)
  if (!isFirst) writeSync(1, `${JSON.stringify({ ...ended, waiting: (await company.waiting?.()) ?? [] })}\n`)
  await company.close()
  process.exit()
}

/** The last line of a life, which ends, or is killed when it prints `now`. */
const lifeOf = async (...argv: ReadonlyArray<string>): Promise<string> => {
  let output = ""
  const { child, closed } = launch(new URL(import.meta.url), argv, (line) => {
    output = line
    if (line === "now") child.kill("SIGKILL")
  })
  if (!(await settlesWithin(longestMs, closed))) {
    output = "it did not end"
    child.kill("SIGKILL")
  }
  const end = await closed
  return output === "" ? `it ended with ${end}` : output
}

/**
 * Kills the program between two steps of the child, or during a call that writes; then continues. The reason of the end is the output
 * of a life that did not end as it must.
 */
export const killed = async (module: string, folder: string, when: "between" | "during") => {
  const first = await lifeOf(module, folder, when, "1")
  const last = first === "now" ? await lifeOf(module, folder, when, "2") : first
  const charges = existsSync(ledgerIn(folder)) ? readFileSync(ledgerIn(folder), "utf8").split("\n").length - 1 : 0
  const none = { reason: last.slice(0, 300), text: "", waiting: [] }
  const ended = last.startsWith("{") ? (JSON.parse(last) as Ended & { readonly waiting: ReadonlyArray<string> }) : none
  return { charges, ...ended }
}

if (import.meta.main) await live(...process.argv.slice(2))
