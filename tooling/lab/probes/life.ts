/**
 * `node life.ts <module> <folder> <when> <life>`: a program that is killed in its first life, and continues in its second.
 *
 * `when` is `between`, after a write and before the next reply of the child, or `during`, after the effect of a write whose result is
 * not known.
 */
import { appendFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import { endOf } from "./accident.ts"
import type { Framework } from "./framework.ts"
import { charge, gives, uses } from "./model.ts"

const [module = "", folder = "", when = "between", life = "1"] = process.argv.slice(2)
const { framework } = (await import(module)) as { readonly framework: Framework }

/** The program that starts this one kills it at that time. */
const now = (): Promise<void> => {
  writeSync(1, "now\n")
  return new Promise(() => {})
}

const isFirst = life === "1"
const model = uses("c1", "charge", () => {
  if (isFirst) void now()
  return [isFirst ? "hang" : "found"]
})
// The ledger is a file outside of what is killed.
const effect = (): void => appendFileSync(join(folder, "ledger"), "charge\n")
const tools = [charge(effect, isFirst && when === "during" ? now : undefined)]
const boss = { model: gives({ c0: "research" }), agents: ["research"] }

const company = await framework.start({ roles: { boss, research: { model, tools } } }, folder)
const ended = await endOf(isFirst ? company.send("go") : company.retry?.(), Infinity)
if (!isFirst) writeSync(1, `${JSON.stringify({ ...ended, waiting: (await company.waiting?.()) ?? [] })}\n`)
await company.close()
process.exit()
