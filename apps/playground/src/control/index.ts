/** The nodes of a cluster and the commands for them, as data: the page and the terminal share it. */
export { actionsOf, type Command, type NodeAction, wordOf } from "./commands.ts"
export { keysHelp, press } from "./keys.ts"
export type { ClusterStatus, NodeState, NodeStatus } from "./status.ts"
export { nameOf } from "./status.ts"
