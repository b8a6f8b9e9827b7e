/** The models that clients of OpenAI's protocols may name. */
import type { ChatOptions } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import { HttpError } from "../../errors/index.ts"
import type { Call, TurnOptions } from "../../http/index.ts"

/** A model name that is always accepted, for clients without a model of this server. */
const anyModel = "troupe"

/** The names: those of the server's table, the engine's own model, and one that stands for it. */
export const modelNames = ({ troupe, models }: Call): ReadonlyArray<string> => [
  ...new Set([...Object.keys(models), troupe.engine.model ?? anyModel, anyModel])
]

/** The options of a turn with this model. Throws an `HttpError` (404) for an unknown name. */
export const modelNamed = (call: Call, name: string): TurnOptions => {
  if (!modelNames(call).includes(name)) {
    throw new HttpError("not_found", "There is no such model here; GET /v1/models lists those there are")
  }
  return Object.hasOwn(call.models, name) ? (call.models[name] ?? {}) : {}
}

/**
 * A thread that is run without a chat, and the options without their instructions, which begin the thread: the Troupe's own
 * instructions stay before them.
 */
export const withoutInstructions = (
  messages: ReadonlyArray<Message.Message>,
  { instructions, ...rest }: ChatOptions
): { readonly thread: ReadonlyArray<Message.Message>; readonly rest: ChatOptions } => ({
  thread: instructions === undefined ? messages : [Message.system(instructions), ...messages],
  rest
})
