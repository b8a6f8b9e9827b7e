/** Tool calls, and what they wait for. */
export { Approval, type ApprovalProps } from "./approval.tsx"
export { calledIn, resultsOf, runningCall, type ShownCall } from "./callState.ts"
export { Decide } from "./decide.tsx"
export { questionFor } from "./decisions.ts"
export { canDecline } from "./formFields.ts"
export { Question, type QuestionProps } from "./question.tsx"
export { type CallVerbs, ToolCall, type ToolCallProps } from "./toolCall.tsx"
