/** The options of a request that a hook can replace, and their types. */
import * as z from "zod"
import { described, dictionary, numeric, text } from "../errors/index.ts"
import { ResponseFormat, ToolChoice } from "../model/index.ts"

/** The schemas of these options; a chat's options of the same names have the same schemas. */
export const requestParams = z.strictObject({
  model: text.optional(),
  instructions: text.optional(),
  toolChoice: described(ToolChoice, "auto, none, required or { name } of a tool").optional(),
  responseFormat: described(ResponseFormat, "{ type } of text, json_object or json_schema").optional(),
  temperature: numeric.optional(),
  maxTokens: numeric.optional(),
  providerOptions: dictionary.optional()
})

/** The options of a request that a hook can replace. */
export interface RequestParams {
  readonly model?: string | undefined
  readonly instructions?: string | undefined
  readonly toolChoice?: ToolChoice | undefined
  readonly responseFormat?: ResponseFormat | undefined
  readonly temperature?: number | undefined
  readonly maxTokens?: number | undefined
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined
}
