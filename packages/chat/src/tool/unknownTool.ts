/** A call of an unknown tool is an error in collected forms, and an event in streamed forms. */
import { EngineError } from "../errors/index.ts"

/** Whether an error means that a called tool does not exist. */
export const isUnknownTool = (error: unknown): error is EngineError =>
  error instanceof EngineError && error.reason === "unknown_tool"
