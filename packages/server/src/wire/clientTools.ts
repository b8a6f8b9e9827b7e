/** The tools that a client runs itself, for one turn. */
import { ValidationError } from "@troupe/chat/errors"
import { Tool } from "@troupe/chat/tools"
import { beginningOf, HttpError, quoted } from "../errors/index.ts"

export interface ClientTool {
  readonly name: string
  readonly description?: string | null | undefined
  readonly parameters?: Readonly<Record<string, unknown>> | null | undefined
  /** Whether the provider holds the model to the schema. */
  readonly strict?: boolean | null | undefined
}

/** Whether a model can give arguments by this schema. The empty schema permits every object. */
const isOfObject = (schema: Readonly<Record<string, unknown>>): boolean =>
  schema["type"] === "object" || Object.keys(schema).length === 0

/** A client's own tool. Throws an `HttpError` (422) for a name in `taken`, and for parameters that are not of an object. */
export const manualTool = (
  { name, description, parameters, strict }: ClientTool,
  taken: ReadonlySet<string>
): Tool.Tool => {
  const said = quoted(name)
  if (taken.has(name))
    throw new HttpError(
      "invalid_input",
      `The tool ${said} has the name of another one, of this server or of the request; call it something else`
    )
  if (parameters !== null && parameters !== undefined && !isOfObject(parameters))
    throw new HttpError(
      "invalid_input",
      `The tool ${said} needs as its \`parameters\` a JSON schema of an object: { "type": "object", "properties": { … } }`,
      { issues: [{ field: ["tools", beginningOf(name, 100), "parameters", "type"], reason: 'must be "object"' }] }
    )
  try {
    return Tool.make({
      name,
      manual: true,
      ...(typeof description === "string" ? { description } : {}),
      ...(parameters === null || parameters === undefined ? {} : { parameters }),
      ...(typeof strict === "boolean" ? { metadata: { strict } } : {})
    })
  } catch (cause) {
    if (!(cause instanceof ValidationError)) throw cause
    throw new HttpError("invalid_input", `The tool ${said} is not valid; \`issues\` says what`, {
      issues: cause.errors,
      cause
    })
  }
}
