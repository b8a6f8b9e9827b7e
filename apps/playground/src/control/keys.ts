/** The keys: a letter and the digit of a node, as `k 2`. */
import type { Command, NodeAction } from "./commands.ts"
import type { NodeStatus } from "./status.ts"

/** The letter that waits for a digit, and the command that a key completes. */
export interface Pressed {
  readonly letter?: string
  readonly command?: Command
}

/** The keys, as a line of help. */
export const keysHelp = "k 2 kills home 2, f freezes or wakes, d drains, s starts, a adds a home; 0 is the gateway"

const actions: ReadonlyMap<string, NodeAction> = new Map([
  ["k", "kill"],
  ["f", "freeze"],
  ["d", "drain"],
  ["s", "start"]
])

/** Reads one key, after the letter that was pressed before. Spaces change nothing, and another key discards the letter. */
export const press = (letter: string | undefined, key: string, nodes: ReadonlyArray<NodeStatus>): Pressed => {
  const pressed = key.toLowerCase()
  if (pressed === " " && letter !== undefined) return { letter }
  if (pressed === "a") return { command: { type: "add" } }
  if (actions.has(pressed)) return { letter: pressed }
  const action = actions.get(letter ?? "")
  const node = nodes.find(({ number }) => String(number) === pressed)
  if (action === undefined || node === undefined) return {}
  const type = action === "freeze" && node.state === "frozen" ? "wake" : action
  return { command: { type, node: node.number } }
}
