/** A tool: its definition, its parameters, the context of its handler and the text of its result; the tools of memories and of long threads. */
export { asked, ChildWaits, isReturned, handlerResultOf, questionsOf, TaskBegan } from "./Returned.ts"
export type { Returned } from "./Returned.ts"
export { make } from "./Tool.ts"
export { inProcess } from "./ToolExecutor.ts"
export { tool } from "./functionTool.ts"
export { digest, idempotencyKey, newStepId } from "./idempotencyKey.ts"
export type { CallPlace } from "./idempotencyKey.ts"
export { jsonSchema, loadSchemas } from "./jsonSchema.ts"
export { jsonSchemaOf, pathOf, validate } from "./parameters.ts"
export { isProviderApproval, isProviderTool, toolFor, toolOf } from "./providerTool.ts"
export { submittedMessage } from "./submittedResult.ts"
export {
  callsFindings,
  isSchema,
  repeatedTool,
  schemaType,
  toolAdvice,
  toolListAdvice,
  isUnknownTool
} from "./toolChecks.ts"
export type {
  AgentMessage,
  Awaitable,
  BackgroundCall,
  ChatHandle,
  BoardPosts,
  BoardRefusal,
  ChatMemories,
  ChatTasks,
  Engine,
  Parameters,
  ParsedArguments,
  ProviderTool,
  SubagentCall,
  Tool,
  ToolContext,
  ToolExecutor,
  ToolOrigin
} from "./toolContract.ts"
