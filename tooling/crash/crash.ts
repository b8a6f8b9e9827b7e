/**
 * A program that is killed again and again, and started again on what it left.
 *
 * The seed says how many lines each life has; the kill is `SIGKILL`, from outside, wherever the program then is.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import { queries } from "../../packages/store/test/double/queries.ts"
import { chanceOf } from "../soak/chance.ts"
import { audited, type Found, nothingPromised, type Promised, takeUp } from "./audit.ts"
import { type Line, linesOf } from "./lines.ts"
import { openStore } from "./stores.ts"

/** What a run is told. `told` hears of every life. */
export interface CrashOptions {
  readonly database: string
  /** Where the tools note what they did. */
  readonly journal: string
  readonly lives: number
  readonly seed: number
  readonly told?: (life: number, wrong: ReadonlyArray<string>) => void
}

/** What came of it. */
export interface Crashed {
  readonly promised: Promised
  readonly calls: number
  /** Lives that ended before the Troupe ran, and conversations that were cut off in a turn. */
  readonly early: number
  readonly interrupted: number
  readonly wrong: ReadonlyArray<string>
}

const program = new URL("program.ts", import.meta.url).pathname

/** Kills it in each of its lives, and looks each time. */
export const crash = async ({ database, journal, lives, seed, told }: CrashOptions): Promise<Crashed> => {
  const chance = chanceOf(seed)
  const promised = nothingPromised()
  const found: Found = new Map()
  const wrong: Array<string> = []
  let [early, interrupted] = [0, 0]
  for (let life = 1; life <= lives; life++) {
    const lines = await lifeOf([database, journal, String(seed), String(life)], chance)
    early += lines.some(({ type }) => type === "ready") ? 0 : 1
    interrupted += lines.filter((line) => line.type === "revived" && line.phase === "interrupted").length
    await quiet(database)
    const store = openStore(database)
    const seen = [...takeUp(lines, promised, found)]
    seen.push(...(await audited(store, promised, journalOf(journal), found)))
    await store.close()
    seen.push(...damage(database))
    told?.(life, seen)
    wrong.push(...seen.map((what) => `life ${life}: ${what}`))
    if (seen.length > 0) break
  }
  return { promised, calls: journalOf(journal).length, early, interrupted, wrong }
}

/** The longest that may pass without a word, in milliseconds. */
const silence = 30_000

/**
 * One life: what it said before it was killed, some milliseconds after some line of it. Now and then it is killed while it begins.
 */
const lifeOf = async (argv: ReadonlyArray<string>, chance: () => number): Promise<ReadonlyArray<Line>> => {
  const child = spawn(process.execPath, [program, ...argv], { stdio: ["ignore", "pipe", "inherit"] })
  const [isEarly, length, jitter] = [chance() < 0.1, Math.ceil(chance() * 24), chance()]
  let said = ""
  const enough = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString()
      if (linesOf(said).length >= length) resolve()
    })
    child.once("close", () => resolve())
  })
  const closed = once(child, "close")
  if (isEarly) await setTimeout(jitter * 800)
  else await Promise.race([enough, setTimeout(silence, undefined, { ref: false })])
  if (!isEarly) await setTimeout(jitter * 20)
  child.kill("SIGKILL")
  await closed
  const ended: ReadonlyArray<Line> = child.exitCode === null ? [] : [{ type: "wrong", what: "it ended by itself" }]
  return [...linesOf(said), ...ended]
}

/** A server goes on with what a killed program had sent it, a commit say, until it notices: nothing is compared before. */
const quiet = async (database: string): Promise<void> => {
  if (!database.startsWith("postgres:")) return
  const connected = "SELECT pid FROM pg_stat_activity WHERE application_name = 'troupe'"
  while ((await queries(database, [connected])).length > 0) await setTimeout(5)
}

const journalOf = (path: string): ReadonlyArray<readonly [string, string]> =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as readonly [string, string])
    : []

/** What SQLite finds wrong with its file. */
const damage = (database: string): ReadonlyArray<string> => {
  if (database.startsWith("postgres:")) return []
  const file = new DatabaseSync(database)
  const integrity = file
    .prepare("PRAGMA integrity_check")
    .all()
    .map((row) => String(row["integrity_check"]))
  const references = file.prepare("PRAGMA foreign_key_check").all()
  file.close()
  return [
    ...integrity.filter((found) => found !== "ok"),
    ...references.map((row) => `a row of ${String(row["table"])} belongs to nothing`)
  ]
}
