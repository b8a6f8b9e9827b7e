/**
 * Components for chats, over the hooks of this package.
 *
 * **Details**: the parts have no styles of their own. Each has a class name, `troupe-<part>`, and data attributes for its states; the theme
 * `@troupe/react/theme.css` styles them, in colours that are custom properties. Most parts take `children` that render their inside
 * differently. They need the package `marked`.
 *
 * @module
 */
export { Approval, type ApprovalProps, Question, type QuestionProps } from "./ui/call/index.ts"
export { type CallVerbs, type ShownCall, ToolCall, type ToolCallProps } from "./ui/call/index.ts"
export { Chat, type ChatProps, ChatStatus, type ChatStatusProps } from "./ui/chat/index.ts"
export { Composer, type ComposerProps, type Entry, Message, type MessageProps } from "./ui/chat/index.ts"
export { type ModelChoice, Thread, type ThreadProps } from "./ui/chat/index.ts"
export { ChatList, type ChatListProps, Inbox, type InboxProps } from "./ui/lists/index.ts"
export { type ListedChat, type ListedWait } from "./ui/lists/index.ts"
export { Code, type CodeProps, Markdown, type MarkdownProps } from "./ui/message/index.ts"
export { Reasoning, type ReasoningProps, type Source, Sources, type SourcesProps } from "./ui/message/index.ts"
