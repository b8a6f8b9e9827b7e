import type { NodeState } from "./status.ts"

/**
 * What can be done with the process of a node.
 *
 * - `kill`: SIGKILL
 * - `freeze`: SIGSTOP
 * - `wake`: SIGCONT
 * - `drain`: SIGTERM
 * - `start`: a process for a node that has ended
 */
export type NodeAction = "kill" | "freeze" | "wake" | "drain" | "start"

/** A command: an action on a node, or one more home. */
export type Command = { readonly type: "add" } | { readonly type: NodeAction; readonly node: number }

const actions: Readonly<Record<NodeState, ReadonlyArray<NodeAction>>> = {
  starting: ["kill"],
  running: ["kill", "freeze", "drain"],
  frozen: ["kill", "wake"],
  draining: ["kill"],
  ended: ["start"]
}

/** The actions that are possible in a state. */
export const actionsOf = (state: NodeState): ReadonlyArray<NodeAction> => actions[state]

const words: Readonly<Record<NodeAction, string>> = {
  kill: "Kill",
  freeze: "Freeze",
  wake: "Wake",
  drain: "Drain",
  start: "Start"
}

/** The word on the button of an action. */
export const wordOf = (action: NodeAction): string => words[action]
