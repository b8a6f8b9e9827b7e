/**
 * Replays recorded provider streams over the real wire: a loopback server sends the recording, that provider's own SDK
 * package reads it, and a chat runs on it.
 *
 * `pnpm wire <folder> [--provider <name>]` prints one JSON line per recording, and a summary to stderr.
 *
 * @module
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { replay } from "./replay.ts"

const { values, positionals } = parseArgs({ allowPositionals: true, options: { provider: { type: "string" } } })
const [folder] = positionals

if (folder === undefined) {
  console.error("Usage: pnpm wire <folder> [--provider <name>]")
  process.exitCode = 2
} else {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^(README|\.)|\.md$/i.test(entry.name))
    .map((entry) => entry.name)
    .filter((name) => values.provider === undefined || name.startsWith(`${values.provider}--`))
    .toSorted()
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
