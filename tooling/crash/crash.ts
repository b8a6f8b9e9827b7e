/**
 * Kills a program repeatedly, and restarts it on its store.
 *
 * The seed determines the number of lines in each life. The kill is `SIGKILL`, from outside, at any point of the program, or
 * by the program itself between a write of the store and the next step of the chat.
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
import { tasksOf, wrongTrees } from "./treeAudit.ts"

/** The options of a run. `reported` is called after every life. */
export interface CrashOptions {
  readonly database: string
  /** The file where the tools record their effects. */
  readonly journal: string
  readonly lives: number
  readonly seed: number
  /** Whether the chats have trees of agents. After its last life the program then runs once more, until every chat is over. */
  readonly areTrees?: boolean
  readonly reported?: (life: number, wrong: ReadonlyArray<string>) => void
}

/** The result of a run. */
export interface Crashed {
  readonly promised: Promised
  readonly calls: number
  /** The background tasks that began. */
  readonly tasks: number
  /** Lives that ended before the Troupe ran, and conversations that were interrupted in a turn. */
  readonly early: number
  readonly interrupted: number
  readonly wrong: ReadonlyArray<string>
}

const programs = {
  chats: new URL("program.ts", import.meta.url).pathname,
  trees: new URL("tree.ts", import.meta.url).pathname
}

/** Kills the program in each of its lives, and audits the store each time. */
export const crash = async (options: CrashOptions): Promise<Crashed> => {
  const { database, journal, lives, seed, areTrees = false, reported } = options
  const chance = chanceOf(seed)
  const program = areTrees ? programs.trees : programs.chats
  const promised = nothingPromised()
  const found: Found = new Map()
  const wrong: Array<string> = []
  let [early, interrupted] = [0, 0]
  for (let life = 1; life <= lives + Number(areTrees); life++) {
    const isLast = life > lives
    const argv = [program, database, journal, String(seed), String(life)]
    const lines = await (isLast ? wholeLifeOf([...argv, "last"]) : lifeOf(argv, chance))
    early += lines.some(({ type }) => type === "ready") ? 0 : 1
    interrupted += lines.filter((line) => "phase" in line && line.phase === "interrupted").length
    await quiet(database)
    const store = openStore(database)
    const seen = [...takeUp(lines, promised, found)]
    seen.push(...(await audited(store, promised, journalOf(journal), found)))
    if (areTrees) seen.push(...wrongTrees(found, promised, isLast))
    await store.close()
    seen.push(...damage(database))
    reported?.(life, seen)
    wrong.push(...seen.map((what) => `life ${life}: ${what}`))
    if (seen.length > 0) break
  }
  return { promised, calls: journalOf(journal).length, tasks: tasksOf(found), early, interrupted, wrong }
}

/** The maximum time without output, in milliseconds. */
const silence = 30_000

/** The maximum time of the last life, in milliseconds. */
const longestLife = 120_000

/**
 * One life: its output until it was killed, some milliseconds after one of its lines. Sometimes it is killed during
 * startup.
 */
const lifeOf = async (argv: ReadonlyArray<string>, chance: () => number): Promise<ReadonlyArray<Line>> => {
  const child = spawn(process.execPath, [...argv], { stdio: ["ignore", "pipe", "inherit"] })
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

/** The last life: its output until it ends by itself. */
const wholeLifeOf = async (argv: ReadonlyArray<string>): Promise<ReadonlyArray<Line>> => {
  const child = spawn(process.execPath, [...argv], { stdio: ["ignore", "pipe", "inherit"], timeout: longestLife })
  let said = ""
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()))
  await once(child, "close")
  const what = `the last life ended with ${child.exitCode ?? child.signalCode}`
  return [...linesOf(said), ...(child.exitCode === 0 ? [] : [{ type: "wrong" as const, what }])]
}

/**
 * Waits until a server has finished the commands of a killed program, such as a commit. The audit starts after that.
 */
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

/** The faults that SQLite finds in its file. */
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
