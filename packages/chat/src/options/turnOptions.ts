/** The options of one turn of a live chat, over those of its Troupe. */
import type { ChatOptions, TurnOptions } from "./ChatOptions.ts"
import { findingsOf } from "./optionChecks.ts"
import type { Engine } from "../tool/index.ts"
import { isRecord, unknownOption, ValidationError } from "../errors/index.ts"

/** Every name of a turn's own options. */
const names: ReadonlyArray<string> = Object.keys({
  model: true,
  instructions: true,
  tools: true,
  toolChoice: true,
  responseFormat: true,
  temperature: true,
  maxTokens: true,
  providerOptions: true,
  context: true,
  storedMetadata: true,
  maxTurns: true,
  includeRawChunks: true,
  structuredFinalize: true,
  structuredFinalizeNudge: true
} satisfies Record<keyof TurnOptions, true>)

/**
 * The options of a turn, over those of its chat and its engine. Throws a `ValidationError` (`invalid_options`) for an option
 * that a turn cannot have.
 */
export const withTurnOptions = (engine: Pick<Engine, "context">, chat: ChatOptions, turn: TurnOptions): ChatOptions => {
  const given: unknown = turn
  if (!isRecord(given)) {
    throw new ValidationError("invalid_options", [{ field: ["options"], reason: "must_be_an_object of options" }])
  }
  const unknown = Object.keys(turn).filter((name) => !names.includes(name))
  const found =
    unknown.length > 0
      ? unknown.map((name) => ({ field: [name], reason: unknownOption(name, names) }))
      : findingsOf(turn)
  if (found.length > 0) {
    throw new ValidationError(
      "invalid_options",
      found.map(({ field, reason }) => ({ field: ["options", ...field], reason }))
    )
  }
  const instructions = [chat.instructions, turn.instructions].filter((text) => text !== undefined && text !== "")
  return {
    ...chat,
    ...turn,
    instructions: instructions.length === 0 ? undefined : instructions.join("\n\n"),
    tools: turn.tools === undefined ? chat.tools : [...(chat.tools ?? []), ...turn.tools],
    providerOptions: { ...chat.providerOptions, ...turn.providerOptions },
    context: turn.context === undefined ? chat.context : { ...(chat.context ?? engine.context), ...turn.context }
  }
}
