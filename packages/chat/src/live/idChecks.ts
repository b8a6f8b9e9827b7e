/** The checks of ids, and of the names of options. */
import { isRecord, unknownOption, ValidationError } from "../errors/index.ts"
import { isChildId } from "../record/index.ts"

export const refusedArgument = (field: ReadonlyArray<string>, reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field, reason }])

/** The agent that the caller gives. Throws a `ValidationError` for options that are not valid. */
export const askedAgent = (options: { readonly agent?: string | undefined }): string | undefined => {
  const { agent } = options
  if (agent !== undefined && typeof agent !== "string")
    throw refusedArgument(["agent"], "must_be_a_string, the name of an agent")
  return agent
}

/** Throws a `ValidationError` for an invalid id. */
export const checkId = (id: unknown): void => {
  if (typeof id !== "string" || id === "") throw refusedArgument(["id"], "must_be_a_non_empty_string")
}

/** Throws a `ValidationError` for an invalid id, and for that of a sub-agent's conversation, which only its call may use. */
export const checkOwnId = (id: string): void => {
  checkId(id)
  if (isChildId(id))
    throw refusedArgument(
      ["id"],
      "must_not_contain /~/: that is a conversation of a sub-agent, which only its call uses"
    )
  if (id.endsWith("/~"))
    throw refusedArgument(["id"], "must_not_end_with /~: its sub-agents would have the ids of those of another chat")
}

/** Throws a `ValidationError` for options that are no object, and for unknown names. */
export const checkNames = (options: unknown, names: ReadonlyArray<string>): void => {
  if (options === undefined) return
  if (!isRecord(options)) throw refusedArgument([], "must_be_an_object of options")
  const found = Object.keys(options).filter((name) => !names.includes(name))
  if (found.length === 0) return
  throw new ValidationError(
    "invalid_options",
    found.map((name) => ({ field: [name], reason: unknownOption(name, names, `use ${names.join(", ")}`) }))
  )
}
