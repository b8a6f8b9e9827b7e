import { createHook } from "node:async_hooks"
import { once } from "node:events"
import { connect } from "node:net"
import type { AdapterEvent } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { expect, onTestFinished, test } from "vitest"
import { listen } from "../../src/node/Node.ts"
import { served } from "../double/served.ts"

/** A model that says as many words as the message has characters, each in a turn of the event loop and with one promise. */
const talkative = (words: number): AsyncIterableIterator<AdapterEvent> => {
  let said = -1
  const next = (): AdapterEvent | undefined => {
    said += 1
    if (said === 0) return { type: "message_started", message: { role: "assistant", content: "" } }
    if (said <= words) return { type: "text_delta", id: null, delta: "word " }
    if (said > words + 1) return undefined
    return { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
  }
  const stream: AsyncIterableIterator<AdapterEvent> = {
    [Symbol.asyncIterator]: () => stream,
    next: () =>
      new Promise((resolve) => {
        setImmediate(() => {
          const value = next()
          resolve(value === undefined ? { done: true, value: undefined } : { done: false, value })
        })
      })
  }
  return stream
}

test("a delta over HTTP makes five promises: its own, and one for each reader between the model and the socket", async () => {
  const { server } = await served(
    { adapter: { name: "talkative", stream: ({ messages }) => talkative(messages.map(Message.text).join("").length) } },
    { authorize: () => ({ owner: "anna" }) }
  )
  const node = await listen(server)
  onTestFinished(node.close)
  const client = connect(node.port, "127.0.0.1").setEncoding("utf8")
  onTestFinished(() => void client.destroy())
  await once(client, "connect")
  let chats = 0
  const turn = (words: number): Promise<number> =>
    new Promise((resolve) => {
      const body = JSON.stringify({ input: "x".repeat(words) })
      let text = ""
      const read = (piece: string): void => {
        text += piece
        if (!text.endsWith("\r\n0\r\n\r\n")) return
        client.off("data", read)
        resolve(text.split('"text_delta"').length - 1)
      }
      client.on("data", read)
      client.write(
        `POST /chats/c${chats++}/messages HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      )
    })
  const promisesOf = async (words: number): Promise<number> => {
    let promises = 0
    const hook = createHook({ init: (_, type) => void (promises += type === "PROMISE" ? 1 : 0) }).enable()
    const deltas = await turn(words)
    hook.disable()
    expect(deltas).toBe(words)
    return promises
  }
  await turn(100)
  const few = await promisesOf(100)
  expect(Math.round(((await promisesOf(1_100)) - few) / 1_000)).toBe(5)
})
