/** The content of messages. */
export { contentOf } from "./content.ts"
export { Code, type CodeProps, Markdown, type MarkdownProps } from "./markdown.tsx"
export { Reasoning, type ReasoningProps } from "./reasoning.tsx"
export { type Source, Sources, type SourcesProps } from "./sources.tsx"
