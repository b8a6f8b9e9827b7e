/** Which names a tool can have. */

/** The problem of a tool name; `undefined` for a valid name. */
export const nameProblem = (name: unknown): "empty" | "reserved_tool_name" | "invalid_format" | undefined => {
  if (name === "") return "empty"
  if (name === "auto" || name === "none" || name === "required") return "reserved_tool_name"
  return typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name) ? undefined : "invalid_format"
}
