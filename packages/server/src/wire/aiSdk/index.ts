/** The UI message stream of the AI SDK. */
export { withMetadata, withTurn } from "./uiMetadata.ts"
export type { UiMetadata } from "./uiMetadata.ts"
export { uiMessages } from "./uiParts.ts"
export { UiRequest, answersIn, userMessage } from "./uiRequest.ts"
export type { UiInput } from "./uiRequest.ts"
export { UiStream } from "./uiStream.ts"
export type { UiKnown } from "./uiStream.ts"
export type { UiChunk } from "./uiBlocks.ts"
