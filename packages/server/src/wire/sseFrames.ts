/** Server-sent events as text. */

/** One piece of data. JSON has no line ends of its own. */
export const dataFrame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`

/** Several pieces, as one text for the wire. */
export const dataFrames = (all: ReadonlyArray<unknown>): string => all.map(dataFrame).join("")

/** What ends a stream of the AI SDK and of OpenAI. */
export const doneFrame = "data: [DONE]\n\n"
