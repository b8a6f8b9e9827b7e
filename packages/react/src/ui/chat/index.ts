/** A chat and its parts. */
export { Chat, type ChatProps } from "./chat.tsx"
export { ChatStatus, type ChatStatusProps } from "./chatStatus.tsx"
export { Composer, type ComposerProps, type ModelChoice } from "./composer.tsx"
export type { Entry } from "./entries.ts"
export { Message, type MessageProps } from "./message.tsx"
export { Thread, type ThreadProps } from "./thread.tsx"
