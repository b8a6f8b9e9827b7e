/** Records the progress of a tool. */
import type { Tool } from "@troupe/chat/tools"

/** A call of the tool whose progress is kept here. */
export const seen = (
  tool: Tool.Tool
): {
  readonly tool: Tool.Tool
  readonly values: ReadonlyArray<unknown>
  readonly pid: () => number
  readonly program: () => number
} => {
  const values: Array<unknown> = []
  const { handler } = tool
  if (handler === null) throw new Error("an isolated tool has a handler")
  const last = (name: "pid" | "program") => () =>
    Number((values.at(-1) as { readonly [Name in typeof name]?: number } | undefined)?.[name])
  return {
    values,
    pid: last("pid"),
    program: last("program"),
    tool: {
      ...tool,
      handler: (args, context) =>
        handler(args, {
          ...context,
          get signal() {
            return context.signal
          },
          progress: (value) => {
            values.push(value)
            context.progress(value)
          }
        })
    }
  }
}
