/** Server-sent events as text. */

/** One data frame. JSON contains no line breaks. */
export const dataFrame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`

/** One frame with the name of its event, which is the `type` of its data. */
export const eventFrame = (data: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${data.type}\n${dataFrame(data)}`

/** Several data frames, as one text for the wire. */
export const dataFrames = (all: ReadonlyArray<unknown>): string => all.map(dataFrame).join("")

/** The end of a stream of the AI SDK and of OpenAI. */
export const doneFrame = "data: [DONE]\n\n"
