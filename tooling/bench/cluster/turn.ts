/** Turns over HTTP, as a client runs them. */
import { Agent, request } from "node:http"
import type { Asked } from "./model.ts"

/** It closes an idle connection before the server does: a request on a connection that is being closed would fail. */
const agent = new Agent({ keepAlive: true, timeout: 1_000 })

/** The body of a request that sends an input. */
export const inputOf = (asked: Asked, id?: string): string => JSON.stringify({ input: JSON.stringify(asked), id })

/** Runs a turn in a chat to its end, and returns the time of its first word in milliseconds. */
export const turn = (node: { readonly base: string }, chat: string, asked: Asked): Promise<number> =>
  firstWord(`${node.base}/chats/${chat}/messages`, inputOf(asked))

/** Posts to the URL, reads the stream of a turn to its end, and returns the time of its first word in milliseconds. */
export const firstWord = (url: string, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const begun = performance.now()
    const headers = { accept: "text/event-stream", "content-type": "application/json" }
    let firstMs = NaN
    let last = ""
    const sent = request(url, { method: "POST", headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a node answered ${response.statusCode}`))
      response.setEncoding("utf8")
      response.on("data", (text: string) => {
        if (Number.isNaN(firstMs) && text.includes('"text_delta"')) firstMs = performance.now() - begun
        last = (last + text).slice(-longestEnd)
      })
      response.once("end", () => {
        if (last.includes('"chat_completed"')) resolve(firstMs)
        else reject(new Error(`a turn was cut: ${last.slice(-200)}`))
      })
      response.once("error", reject)
    })
    sent.once("error", reject).end(body)
  })

/** The last event of a turn has all its messages. */
const longestEnd = 200_000

/** Does a piece of work so many times, so many at once. */
export const together = async (
  { times, atOnce }: { readonly times: number; readonly atOnce: number },
  work: (index: number) => Promise<unknown>
): Promise<void> => {
  let begun = 0
  const one = async (): Promise<void> => {
    while (begun < times) await work(begun++)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}
