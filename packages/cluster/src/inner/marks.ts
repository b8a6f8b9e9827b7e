/** The header by which a node says that it did not process a request, and why. */
export const marks = {
  header: "x-troupe-refused",
  misdirected: "misdirected",
  busy: "busy"
} as const

/** The answer of a node that is not the home of the conversation. */
export const misdirected = (): Response =>
  new Response(null, { status: 421, headers: { [marks.header]: marks.misdirected } })
