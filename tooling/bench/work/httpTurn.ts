/** What the server and its client agree on. */

/** The orders to the client: so many turns on that port. */
export interface Turns {
  readonly port: number
  readonly turns: number
}

/** The path and the body of a turn. */
export const requestOf = (index: number) => ({
  path: `/chats/c${index}/messages`,
  body: JSON.stringify({ input: "Tell me a story" })
})
