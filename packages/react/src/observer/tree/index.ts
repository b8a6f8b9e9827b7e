/** The supervision tree and the detail of a process. */
export { ProcessPane } from "./processPane.tsx"
export type { ProcessPaneProps } from "./processPane.tsx"
export { ProcessTree } from "./processTree.tsx"
export type { ProcessTreeProps } from "./processTree.tsx"
export { lostIn, successorOf } from "./successor.ts"
export type { Lost } from "./successor.ts"
export { nodesOf } from "./treeRows.ts"
