/**
 * Code that all protocols share: replies, updates of tool calls, server-sent events and the content that clients send.
 */
export { agentMessages, senderOf } from "./agentMessages.ts"
export { CallUpdates } from "./callUpdates.ts"
export type { CallNews } from "./callUpdates.ts"
export {
  callsOf,
  errorCode,
  errorText,
  isQuestion,
  isRunning,
  isSaid,
  isStep,
  leftBy,
  messageName,
  named,
  nextReply,
  replyIn,
  replyName,
  replyNameOf,
  sentData,
  sentMetadata,
  standingOf,
  stepsOf,
  valueOf
} from "./chatReply.ts"
export type { StepMessages } from "./chatReply.ts"
export { childData, compactedData, isAnswered, isBelow } from "./childData.ts"
export { WirePart, checkedAnswer, checkedContent, checkedLength, checkedResult, filePart } from "./clientContent.ts"
export type { CallResult } from "./clientContent.ts"
export { manualTool } from "./clientTools.ts"
export { eventText, resultText } from "./eventJson.ts"
export { ownSplice } from "./ownSplice.ts"
export { before, behind, endOfHistory, forkedAt, rewound } from "./rewindThread.ts"
export type { Place } from "./rewindThread.ts"
export { dataFrame, dataFrames, doneFrame, eventFrame } from "./sseFrames.ts"
export { begunTurn, behindCalls, contextAt, isCut, isRepeated, ofChat, ofTurn } from "./turnReader.ts"
export type { Follower } from "./turnReader.ts"
export {
  dataChanges,
  isAnswerRead,
  isWriter,
  replyParts,
  storedData,
  withReplyParts,
  withWriter,
  writerKey,
  writtenDataOf
} from "./writtenData.ts"
export type { UiWritten, Writer, WrittenPart } from "./writtenData.ts"
