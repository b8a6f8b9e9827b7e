/** The tools and the instructions that a client of the AI SDK posts beside its messages, as assistant-ui does. */
import { fitting, HttpError } from "../../errors/index.ts"
import type { Tool } from "@troupe/chat/tools"
import * as z from "zod"
import type { TurnOptions } from "../../http/index.ts"
import { manualTool } from "../index.ts"
import type { UiRequest } from "./uiRequest.ts"

/** The most tools of a request. */
const mostTools = 128

const Posted = z.looseObject({
  system: z.string().nullish(),
  tools: z
    .record(
      z.string(),
      z.looseObject({
        description: z.string().nullish(),
        parameters: z.record(z.string(), z.unknown()).nullish()
      })
    )
    .nullish()
})

/**
 * The options of a client's turn: its tools, which are manual, and its instructions. A manual tool that the server has too
 * is the server's. `undefined` without any. Throws an `HttpError` (413, 422).
 */
export const clientOptions = (
  { tools, system }: UiRequest,
  own: ReadonlyArray<Tool.Tool>,
  mostCharacters: number
): TurnOptions | undefined => {
  const { data, issues } = fitting(Posted, { tools, system })
  if (issues !== undefined) {
    throw new HttpError(
      "invalid_input",
      "`tools` has a schema for each name, and `system` is text; `issues` says where",
      { issues }
    )
  }
  const given = Object.entries(data.tools ?? {})
  if (given.length > mostTools) throw new HttpError("invalid_input", `A request has at most ${mostTools} tools`)
  if (JSON.stringify(given).length + (data.system ?? "").length > mostCharacters)
    throw new HttpError(
      "message_too_long",
      `\`tools\` and \`system\` together have more than ${mostCharacters} characters`
    )
  const manual = new Set(own.flatMap((tool) => (tool.manual ? [tool.name] : [])))
  const taken = new Set(own.map(({ name }) => name))
  const made = given.flatMap(([name, tool]) => (manual.has(name) ? [] : [manualTool({ ...tool, name }, taken)]))
  const instructions = data.system ?? ""
  if (made.length === 0 && instructions === "") return undefined
  return { ...(made.length === 0 ? {} : { tools: made }), ...(instructions === "" ? {} : { instructions }) }
}
