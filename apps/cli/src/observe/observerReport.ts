/**
 * The observer without a terminal: prints the tree and the nodes of a cluster, then a line for each change.
 *
 * @module
 */
import type { Observation } from "@troupe/chat/observe"
import type { ObserverLink } from "@troupe/server/ChatLink"
import { NodeChoice } from "./nodeChoice.ts"
import { nodeText } from "./nodeLines.ts"
import { type ProcessRow, rowsOf } from "./observedRows.ts"
import { visible } from "../output/index.ts"

/** The environment of the report. */
export interface ReportSurroundings {
  readonly observer: ObserverLink
  readonly write: (line: string) => void
  /** Ends after the tree. */
  readonly once: boolean
  /** Ends it early. */
  readonly signal: AbortSignal
}

/** Reports until the signal is aborted. */
export const runReport = ({ observer, write, once, signal }: ReportSurroundings): Promise<void> =>
  new Promise((resolve) => {
    const { tree } = observer
    let before: Observation.Observed | undefined
    let nodesBefore: ReadonlyArray<string> = []
    const reportNodes = (): void => {
      const now = choice.nodes.map(nodeText)
      for (const line of now.filter((text) => !nodesBefore.includes(text))) write(`node ${line}`)
      nodesBefore = now
      if (once) end()
    }
    const choice = new NodeChoice(observer, reportNodes)
    const report = (): void => {
      const now = tree.getState()
      if (now === undefined || now === before) return
      const lines = before === undefined ? treeText(now) : changes(before, now)
      before = now
      for (const line of lines) write(line)
      choice.reached(now.node)
      if (once && now.node === undefined) end()
    }
    const end = (): void => {
      choice.leave()
      signal.removeEventListener("abort", end)
      leave()
      resolve()
    }
    const leave = tree.subscribe(report)
    signal.addEventListener("abort", end, { once: true })
    if (signal.aborted) end()
    else report()
  })

const treeText = (observed: Observation.Observed): ReadonlyArray<string> => [
  `${observed.processes} processes, ${countsText(observed)}`,
  ...rowsOf(observed.tree).map(({ node, branch }) => `${branch}${factsOf(node)}`)
]

const countsText = ({ crashes, restarts, zombies, deadLetters }: Observation.Observed): string =>
  `${crashes} crashes, ${restarts} restarts, ${zombies} zombies, ${deadLetters} dead letters`

const factsOf = ({
  label,
  id,
  status,
  queueLength,
  restarts = 0,
  memory,
  hidden = 0
}: Observation.ProcessNode): string => {
  const facts = [
    status,
    ...(queueLength === 0 ? [] : [`${queueLength} queued`]),
    ...(restarts === 0 ? [] : [`${restarts} restarts`]),
    `${(memory / 1_000).toFixed(1)} kB`,
    ...(hidden === 0 ? [] : [`${hidden} more below`])
  ]
  return `${visible(label)} ${id} ${facts.join(", ")}`
}

const changes = (before: Observation.Observed, now: Observation.Observed): ReadonlyArray<string> => {
  const [old, fresh] = [byId(before), byId(now)]
  const time = new Date(now.at).toISOString().slice(11, 23)
  const began = [...fresh.values()].filter(({ node }) => !old.has(node.id)).map(({ node }) => `+ ${named(node)}`)
  const ended = [...old.values()].filter(({ node }) => !fresh.has(node.id)).map(({ node }) => `- ${named(node)}`)
  const counts = countsText(before) === countsText(now) ? [] : [`! ${countsText(now)}`]
  return [...ended, ...began, ...counts].map((line) => `${time} ${line}`)
}

const named = ({ label, id, chat }: Observation.ProcessNode): string =>
  `${visible(label)} ${id}${chat === undefined || label === `Chat ${chat}` ? "" : ` of ${visible(chat)}`}`

const byId = ({ tree }: Observation.Observed): ReadonlyMap<string, ProcessRow> =>
  new Map(rowsOf(tree).map((row) => [row.node.id, row]))
