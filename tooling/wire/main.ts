/**
 * Replays recorded provider streams over the real wire: a loopback server sends the recording, that provider's own SDK
 * package reads it, and a chat runs on it.
 *
 * `pnpm wire <folder> [--provider <name>]` prints one JSON line per recording, and a summary to stderr. With `--loops` it compares the
 * second request of each chat with that of the AI SDK's own loop, prints those that are not equal with the reason, and fails if one has
 * none. The files are named `<provider>--<name>`: copy the files of the folders `__fixtures__` of `vercel/ai` under such names.
 *
 * @module
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { compareLoops } from "./loops.ts"
import { replay } from "./replay.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { provider: { type: "string" }, loops: { type: "boolean" } }
})
const [folder] = positionals

if (folder === undefined) {
  console.error("Usage: pnpm wire <folder> [--provider <name>] [--loops]")
  process.exitCode = 2
} else {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^(README|\.)|\.md$/i.test(entry.name))
    .map((entry) => entry.name)
    .filter((name) => values.provider === undefined || name.startsWith(`${values.provider}--`))
    .toSorted()
  const counts: Record<string, number> = {}
  for (const file of values.loops === true ? files : []) {
    const line = await compareLoops(join(folder, file), file)
    counts[line.verdict] = (counts[line.verdict] ?? 0) + 1
    if (line.verdict !== "equal") console.log(JSON.stringify(line).slice(0, 500))
  }
  if (values.loops === true) {
    console.error(JSON.stringify(counts))
    process.exit(counts["different"] === undefined ? 0 : 1)
  }
  let failed = 0
  let open = 0
  for (const file of files) {
    // One at a time, so that the open connections belong to this file.
    const line = await replay(join(folder, file), file)
    if (line.error !== null) failed++
    open += line.openConnections
    console.log(JSON.stringify(line))
  }
  console.error(`${files.length} recordings, ${failed} with an error, ${open} connections left open`)
}
