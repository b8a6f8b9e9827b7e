/** The UI message stream of the AI SDK. */
export { uiMessages } from "./uiParts.ts"
export { UiRequest, answersIn, contentOf } from "./uiRequest.ts"
export type { UiInput } from "./uiRequest.ts"
export { UiStream } from "./uiStream.ts"
export type { UiKnown } from "./uiStream.ts"
export type { UiChunk } from "./uiBlocks.ts"
