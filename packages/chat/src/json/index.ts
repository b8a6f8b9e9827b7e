/** Plain JSON: canonical text, size, copies, structural sharing and readable forms. It imports no other package. */
export { isBase64 } from "./base64.ts"
export { copied } from "./deepCopy.ts"
export { deepestLevels, jsonSize } from "./jsonSize.ts"
export { inspected, printed } from "./nodeInspect.ts"
export type { Inspect } from "./nodeInspect.ts"
export { asShown, shown, shownError } from "./readableJson.ts"
export { isSame, samePrefix, sharing, sharingEach } from "./structuralSharing.ts"
