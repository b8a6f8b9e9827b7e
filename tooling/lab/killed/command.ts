/**
 * `pnpm crash [--seed N] [--sqlite N] [--postgres N]`: kills a program so many times on each database, and compares the store with
 * the program's acknowledgements. The exit code is 1 when something is lost, doubled or damaged.
 *
 * `pnpm crash --agents N [--seed N]` kills a program whose chats have trees of agents, three deep. `pnpm crash --long N` kills one whose
 * chats are compacted; every other life ends while a summary streams.
 *
 * @module
 */
import { Folder } from "../../../packages/store/test/double/folder.ts"
import { startPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { isAcknowledged } from "../check/conversations.ts"
import { ofType } from "../check/history.ts"
import { acceptedMessages, sentBy } from "../check/mail.ts"
import { tasksOf } from "../check/trees.ts"
import { anySeed, conclude, optionsOf } from "../command.ts"
import { crash } from "./crash.ts"

const { seed, agents, long, ...given } = optionsOf({ seed: anySeed(), sqlite: -1, postgres: -1, agents: 0, long: 0 })
/** With `--agents` or `--long` alone the other programs do not run. */
const livesOf = (lives: number, usual: number): number => (lives >= 0 ? lives : agents + long === 0 ? usual : 0)

const run = async (
  name: string,
  database: string,
  lives: number,
  kind: "chats" | "trees" | "long" = "chats"
): Promise<void> => {
  if (lives === 0) return
  console.log(`${name}: ${lives} lives, seed ${seed}`)
  const reported = (life: number, seen: ReadonlyArray<string>): void => {
    if (seen.length > 0 || life % 25 === 0) console.log(`${name}: life ${life}, ${seen.length} wrong`)
  }
  const { lines, kept, early, wrong } = await crash({ database, lives, seed, kind, reported })
  const tasks = Array.from(kept.records.values()).flatMap(tasksOf).length
  const inputs = ofType(lines, "sent").filter(({ outcome }) => isAcknowledged(outcome)).length
  const interrupted = ofType(lines, "revived").filter(({ phase }) => phase === "interrupted").length
  const compacted = Array.from(kept.records.values()).filter(({ thread }) => thread.compaction !== undefined).length
  const count = (type: "answered" | "forked" | "call" | "allowed" | "summarised"): number => ofType(lines, type).length
  console.log(
    `${name}: ${inputs} inputs accepted, ${count("answered")} answers given, ${count("forked")} forks, ${count("call")} calls that write, ${count("allowed")} approvals, ${tasks} background tasks, ${compacted} conversations compacted, ${count("summarised")} kills in a summary; ${interrupted} conversations interrupted, ${early} lives ended before they began`
  )
  if (kind === "trees") {
    const accepted = acceptedMessages(kept)
    const unread = Array.from(kept.records.values()).flatMap(({ inbox = [] }) => inbox).length
    const asks = sentBy("ask", kept)
    const replies = asks.filter(({ text, result = "" }) => result.includes(`${text}.`)).length
    console.log(
      `${name}: ${kept.records.size} conversations, ${accepted} messages of agents accepted, ${unread} of them for agents that rest, ${asks.length} questions of agents, ${replies} with an answer`
    )
  }
  if (kind === "long" && (compacted === 0 || count("summarised") === 0 || count("answered") === 0))
    wrong.push("LAB31: nothing was compacted, or no summary was killed")
  conclude(wrong, "nothing lost, nothing doubled, nothing damaged")
}

using folder = new Folder()
await run("sqlite", folder.file("chats.db"), livesOf(given.sqlite, 300))
await run("agents", folder.file("agents.db"), agents, "trees")
await run("long", folder.file("long.db"), long, "long")
const lives = livesOf(given.postgres, 100)
if (lives > 0) {
  const server = await startPostgres()
  await run("postgres", server.url, lives)
  await server.stop()
}
