import { connect } from "node:net"
import { Fake } from "@troupe/chat"
import { describe, expect, onTestFinished, test } from "vitest"
import type { Server } from "../../src/server/Server.ts"
import { deaf, listening, stallMs } from "../double/deafClients.ts"
import { framesIn, hello, reading, served, turn, until } from "../double/served.ts"
import { connected, everything, exchanged } from "../double/sockets.ts"

const idleMs = 5_000 + 10_000
// More than the buffers of a connection take.
const large = 12_000_000

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`

const text = "x".repeat(large)

/** Bytes without an end. */
const endless = (pulled: () => void = () => {}) =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled()
      controller.enqueue(new Uint8Array(50_000))
    }
  })

const chats = async () => {
  const { server, troupe } = await served(
    { adapter: Fake.make({ script: [{ text }, { finish: "stop" }] }), maxReplyCharacters: 2 * large },
    { authorize: () => ({ owner: "anna" }) }
  )
  await (await troupe.chat("anna/c1")).send("Tell").result()
  return server.fetch
}

const kinds: ReadonlyArray<readonly [string, string, () => Promise<Server["fetch"]> | Server["fetch"]]> = [
  ["JSON", "/chats/c1", chats],
  ["the JSON of another protocol", "/api/chat/c1/messages", chats],
  ["a stream that begins with a large frame", "/chats/c1/view", chats],
  ["a file in one piece", "/", () => async () => new Response(text)],
  ["a file in pieces", "/", () => async () => new Response(endless())],
  ["an error", "/", () => async () => new Response(text, { status: 500 })]
]

describe("NODE1 a client that reads nothing", () => {
  test.each(kinds)("of %s is gone after stallMs, and not before", async (_, path, fetch) => {
    const { node, clock, requests } = await listening(await fetch())
    await deaf(node.url, get(path))
    await until(() => clock.pending === 1)
    for (let turns = 0; turns < 20; turns++) await turn()
    expect(clock.pending).toBe(1)
    await clock.advance(stallMs - 1)
    expect(requests[0]?.signal.aborted).toBe(false)
    await clock.advance(1)
    await until(() => requests[0]?.signal.aborted === true)
    expect(clock.pending).toBe(0)
  })

  test("is gone after stallMs, though it sends empty lines and further requests meanwhile, which are not handled", async () => {
    let pulled = 0
    const { node, clock, requests } = await listening(async () => new Response(endless(() => (pulled += 1))))
    const socket = await deaf(node.url, get("/"))
    let before = -1
    await until(() => {
      const isBlocked = before === pulled && clock.pending === 1
      before = pulled
      return isBlocked
    })
    for (const bytes of ["\r\n", get("/second"), "\r\n\r\n"]) {
      await new Promise<void>((resolve) => void socket.write(bytes, () => resolve()))
      for (let turns = 0; turns < 20; turns++) await turn()
      await clock.advance(stallMs / 4)
      expect(requests[0]?.signal.aborted).toBe(false)
    }
    await clock.advance(stallMs / 4)
    await until(() => requests[0]?.signal.aborted === true)
    expect(requests).toHaveLength(1)
  })

  test("a client that reads slowly gets all of an answer, however long that takes", async () => {
    let left = 400
    const { node, clock } = await listening(
      async () =>
        new Response(
          new ReadableStream<Uint8Array>(
            {
              pull: async (controller) => {
                await clock.advance(stallMs - 1)
                if (--left === 0) controller.close()
                else controller.enqueue(new Uint8Array(50_000))
              }
            },
            { highWaterMark: 0 }
          ),
          { headers: { connection: "close" } }
        )
    )
    const all = await (await fetch(node.url)).arrayBuffer()
    expect(all.byteLength).toBe(399 * 50_000)
  })
})

describe("NODE5 the requests of a connection", () => {
  test("are answered in their order, each when the answer before was taken", async () => {
    const asked: Array<PromiseWithResolvers<Response>> = []
    const { node } = await listening(() => {
      const answer = Promise.withResolvers<Response>()
      asked.push(answer)
      return answer.promise
    })
    const socket = await connected(node.url)
    const came = everything(socket)
    socket.write(get("/1") + get("/2") + get("/3"))
    for (const name of ["one", "two", "three"]) {
      const count = asked.length
      await until(() => asked.length > count || asked.length === 1)
      for (let turns = 0; turns < 5; turns++) await turn()
      asked.at(-1)?.resolve(new Response(name, { headers: name === "three" ? { connection: "close" } : {} }))
      if (name !== "three") await until(() => asked.length > count)
    }
    expect((await came).match(/one|two|three/gu)).toEqual(["one", "two", "three"])
  })

  test("are dropped with their connection, and the connection where too many wait", async () => {
    const { node, requests } = await listening(() => new Promise(() => {}))
    const leaving = await deaf(node.url, get("/1") + get("/2"))
    await until(() => requests.length === 1)
    leaving.destroy()
    await until(() => requests[0]?.signal.aborted === true)
    await exchanged(node.url, get("/many").repeat(102))
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(["/1", "/many"])
  })
})

test("NODE6 a connection without a request is closed in time, whatever comes on it", async () => {
  const { node, clock } = await listening(async () => new Response("ok"))
  const socket = await connected(node.url)
  const came = everything(socket)
  socket.write(get("/"))
  await until(() => clock.pending === 1)
  for (let times = 0; times < 3; times++) {
    await new Promise<void>((resolve) => void socket.write("\r\n", () => resolve()))
    for (let turns = 0; turns < 20; turns++) await turn()
    await clock.advance(idleMs / 4)
  }
  expect(socket.readyState).toBe("open")
  await clock.advance(idleMs / 4)
  expect(await came).toContain("ok")
})

test("NODE3 a client that leaves its connection open after a refusal is cut", async () => {
  const { node, clock } = await listening(async () => new Response("ok"))
  const { hostname, port } = new URL(node.url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  const failed = new Promise<void>((resolve) => void socket.once("error", () => resolve()))
  socket.write("nonsense\r\n\r\n")
  socket.resume()
  await new Promise<void>((resolve) => void socket.once("end", () => resolve()))
  expect(clock.pending).toBe(1)
  await clock.advance(1_000)
  // A connection that is no longer there answers what comes with a reset.
  const cut = { done: false }
  void failed.then(() => (cut.done = true))
  await until(() => {
    if (!cut.done && socket.writable) socket.write("more")
    return cut.done || !socket.writable
  })
  expect(clock.pending).toBe(0)
})

test("OWNER3 a large answer is refused while another one is not taken, and a small one never", async () => {
  const { ask } = await served({ adapter: hello() }, { limits: { answerBytes: 1 } })
  await (await ask("POST", "/chats/c1/messages?wait", { input: "x".repeat(30_000) })).text()
  const first = await ask("GET", "/chats/c1")
  expect((await ask("GET", "/chats/c1")).status).toBe(429)
  expect((await ask("GET", "/chats")).status).not.toBe(429)
  expect(JSON.stringify(await first.json())).toContain("Hi there")
  const again = await ask("GET", "/chats/c1")
  expect(again.status).toBe(200)
  await again.body?.cancel()
  expect((await ask("GET", "/chats/c1")).status).toBe(200)
})

test("OWNER3 a large answer that is dropped unread is released, once", async () => {
  const { ask } = await served({ adapter: hello() }, { limits: { answerBytes: 1 } })
  await (await ask("POST", "/chats/c1/messages?wait", { input: "x".repeat(30_000) })).text()
  const dropped = await (async () => new WeakRef((await ask("GET", "/chats/c1")).body ?? {}))()
  const held = await collectedAnswer(ask, dropped)
  expect((await ask("GET", "/chats/c1")).status).toBe(429)
  await held.body?.cancel()
  expect((await ask("GET", "/chats/c1")).status).toBe(200)
})

/** The next answer, when the one before was collected. */
const collectedAnswer = async (
  ask: (method: string, path: string) => Promise<Response>,
  dropped: WeakRef<object>
): Promise<Response> => {
  for (let turns = 0; turns < 100; turns++) {
    globalThis.gc?.()
    await turn()
    const answer = await ask("GET", "/chats/c1")
    if (answer.status === 200) return answer
  }
  throw new Error(`the answer ${dropped.deref() === undefined ? "was" : "was not"} collected, and is still counted`)
}

test("OWNER3 a stream whose frame does not fit ends with a frame that says so", async () => {
  const { ask } = await served({ adapter: hello() }, { limits: { answerBytes: 1 } })
  await (await ask("POST", "/chats/c1/messages?wait", { input: "x".repeat(30_000) })).text()
  const first = await ask("GET", "/chats/c1")
  const refused = framesIn(await (await ask("GET", "/chats/c1/view")).text())
  expect(refused).toHaveLength(1)
  expect(refused[0]?.json).toMatchObject({ type: "failed", error: { code: "too_many_bytes", retryAfterMs: 1_000 } })
  await first.text()
  const stream = reading(await ask("GET", "/chats/c1/view"))
  expect(await stream.until("Hi there")).not.toContain("too_many_bytes")
  await stream.leave()
  expect((await ask("GET", "/chats/c1")).status).toBe(200)
})
