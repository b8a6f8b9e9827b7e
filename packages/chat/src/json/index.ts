/** Plain JSON: canonical text, size, copies, structural sharing and readable forms. It imports no other package. */
export { base64OfBytes, bytesOfBase64, isBase64 } from "./base64.ts"
export { overflows, withBigints, withRawIntegers } from "./exactNumbers.ts"
export { deepestLevels, jsonSize } from "./jsonSize.ts"
export { mainArgument } from "./mainArgument.ts"
export { inspected, printed } from "./nodeInspect.ts"
export type { Inspect } from "./nodeInspect.ts"
export { PartialJson, unfenced } from "./partialJson.ts"
export { withObject } from "./partialReply.ts"
export type { PartialReply } from "./partialReply.ts"
export { asShown, shown, shownError } from "./readableJson.ts"
export { sha256 } from "./sha256.ts"
export {
  copied,
  extended,
  identicalPrefix,
  isSame,
  samePrefix,
  sharing,
  sharingEach,
  wellFormed,
  wellFormedEach
} from "./structuralSharing.ts"
