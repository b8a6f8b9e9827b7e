/** Small parts of the components. */
export { Fault, useAttempt } from "./attempt.tsx"
export { Button, CopyButton } from "./button.tsx"
export { Icon } from "./icon.tsx"
export { Link } from "./link.tsx"
export { classOf, type PartProps } from "./part.ts"
export { type UndoOptions, useUndo } from "./undo.ts"
