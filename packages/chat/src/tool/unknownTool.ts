/** A call of a tool that does not exist is the error of a collected form , and an event of a streamed one. */
import { EngineError } from "../errors/index.ts"

/** Whether an error says that a called tool does not exist. */
export const isUnknownTool = (error: unknown): error is EngineError =>
  error instanceof EngineError && error.reason === "unknown_tool"
