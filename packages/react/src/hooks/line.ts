/** The entries of a log that led to the current state. */
import type { Store } from "@troupe/chat/store"

/** The numbers of these entries: entries that a rewind replaced are not among them. */
export const lineOf = (commits: ReadonlyArray<Store.Commit>): ReadonlySet<number> => {
  const bySeq = new Map(commits.map((commit) => [commit.seq, commit]))
  const line = new Set<number>()
  let at = commits.at(-1)
  while (at !== undefined && !line.has(at.seq)) {
    line.add(at.seq)
    at = bySeq.get(at.kind === "rewound" && at.from !== undefined ? at.from.seq : at.seq - 1)
  }
  return line
}
