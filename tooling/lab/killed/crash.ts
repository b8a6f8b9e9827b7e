/**
 * Kills a program repeatedly, and restarts it on its store.
 *
 * The seed determines the number of facts in each life. The kill is `SIGKILL`, from outside, at any point of the program, or by the
 * program itself between a write of the store and the next step of the chat.
 *
 * LAB17. After each life the database itself finds no damage in its file.
 */
import { DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import { queries } from "../../../packages/store/test/double/queries.ts"
import { type Chance, chanceOf } from "../chance.ts"
import { launch } from "../child.ts"
import { settlesWithin, until } from "../delays.ts"
import { checked } from "../check/checker.ts"
import { type Line, ofType } from "../check/history.ts"
import { keptOf, nothing, openStore } from "../check/kept.ts"
import { wrongRevivals } from "../check/trees.ts"

/** The options of a run. `reported` is called after every life. */
interface CrashOptions {
  readonly database: string
  readonly lives: number
  readonly seed: number
  /** What the chats are; `chats` by default. With trees of agents, the program then runs once more, until every chat is over. */
  readonly kind?: "chats" | "trees" | "long"
  readonly reported?: (life: number, wrong: ReadonlyArray<string>) => void
}

const program = new URL("program.ts", import.meta.url)

/** Kills the program in each of its lives, and checks the store each time. `early`: lives that ended before the Troupe ran. */
export const crash = async ({ database, lives, seed, kind = "chats", reported }: CrashOptions) => {
  const chance = chanceOf(seed)
  const areTrees = kind === "trees"
  const lines: Array<Line> = []
  const wrong: Array<string> = []
  let kept = nothing
  let early = 0
  for (let life = 1; life <= lives + Number(areTrees) && wrong.length === 0; life++) {
    const isOver = life > lives
    const isSummary = kind === "long" && life % 2 === 0
    const argv = [database, String(seed), String(life), isSummary ? "summary" : kind]
    const added = await (isOver ? lifeOf([...argv, "last"]) : lifeOf(argv, chance, isSummary))
    lines.push(...added)
    early += Number(ofType(added, "ready").length === 0)
    await quiet(database)
    const store = openStore(database)
    const seen = [...ofType(added, "wrong").map(({ what }) => what), ...wrongRevivals(added, kept)]
    kept = await keptOf(store, kept)
    await store.close()
    seen.push(...checked(lines, kept, { isOver }), ...damage(database))
    reported?.(life, seen)
    wrong.push(...seen.map((what) => `life ${life}: ${what}`))
  }
  return { lines, kept, early, wrong }
}

/** How long a program may take to start, run, and come to its end in the last life, in milliseconds. */
const startMs = 60_000
const runMs = 15_000
const longestMs = 120_000

/**
 * One life: its facts until it was killed, some milliseconds after one of them. Sometimes it is killed during startup. One that kills
 * `itself` has more time. Without a `chance` it is the last one, which ends by itself.
 */
const lifeOf = async (argv: ReadonlyArray<string>, chance?: Chance, itself = false): Promise<ReadonlyArray<Line>> => {
  const lines: Array<Line> = []
  const { child, closed } = launch(program, argv, (line) => lines.push(JSON.parse(line) as Line))
  if (chance === undefined) {
    if (!(await settlesWithin(longestMs, closed))) child.kill("SIGTERM")
  } else {
    const [isEarly, jitter, length] = [
      chance() < 0.1 && !itself,
      chance(),
      itself ? Infinity : Math.ceil(chance() * 40)
    ]
    const has = (count: number) => () => lines.length >= count || (child.exitCode ?? child.signalCode) !== null
    if (!isEarly) await until(has(1), startMs, 1)
    if (!isEarly) await until(has(length), runMs, 1)
    await setTimeout(jitter * (isEarly ? 800 : 20))
    child.kill("SIGKILL")
  }
  const end = await closed
  if (end !== (chance === undefined ? "0" : "SIGKILL"))
    lines.push({ type: "wrong", at: Date.now(), what: `the program ended with ${end}` })
  return lines
}

/** Waits until a server has finished the commands of a killed program, such as a commit. The check starts after that. */
const quiet = async (database: string): Promise<void> => {
  if (!database.startsWith("postgres:")) return
  const connected = "SELECT pid FROM pg_stat_activity WHERE application_name = 'troupe'"
  while ((await queries(database, [connected])).length > 0) await setTimeout(5)
}

/** LAB17 */
export const damage = (database: string): ReadonlyArray<string> => {
  if (database.startsWith("postgres:")) return []
  const file = new DatabaseSync(database)
  const integrity = file.prepare("PRAGMA integrity_check").all()
  const references = file.prepare("PRAGMA foreign_key_check").all()
  file.close()
  return [
    ...integrity.map((row) => String(row["integrity_check"])).filter((found) => found !== "ok"),
    ...references.map((row) => `a row of ${String(row["table"])} belongs to nothing`)
  ].map((found) => `LAB17: ${found}`)
}
