/** Small parts that all panes of the observer share. */
export { keyedChoice } from "./choiceKeys.ts"
export { ConfirmButton } from "./confirmButton.tsx"
export { ScrollTable } from "./scrollTable.tsx"
export { useSize } from "./size.ts"
export { Surface } from "./surface.tsx"
export { Tabs } from "./tabs.tsx"
export type { Part } from "./tabs.tsx"
export { useTrouble, useWatched } from "./watched.ts"
