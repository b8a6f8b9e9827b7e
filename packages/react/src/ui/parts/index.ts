/** Small parts of the components. */
export { type Attempt, Fault, useAttempt } from "./attempt.tsx"
export { Button, CopyButton } from "./button.tsx"
export { Icon } from "./icon.tsx"
export { classOf, type PartProps } from "./part.ts"
export { type Undo, type UndoOptions, useUndo } from "./undo.ts"
