import type { AddressInfo } from "node:net"
import { createServer, type ServerResponse } from "node:http"
import { ValidationError } from "@troupe/chat/errors"
import { Clock } from "@troupe/otp"
import { describe, expect, onTestFinished, test } from "vitest"
import { FrameStream, responseOf } from "../../src/http/frameStream.ts"
import { write } from "../../src/node/outgoing.ts"
import * as Node from "../../src/node/Node.ts"
import type { Server } from "../../src/server/Server.ts"
import { codeOf, endless, framesIn, hello, reading, served, until } from "../double/served.ts"
import { connected, everything, exchanged } from "../double/sockets.ts"
import type { ServerOptions } from "../../src/server/serverOptions.ts"

const json = { "content-type": "application/json" }
const events = { ...json, accept: "text/event-stream" }
const message = JSON.stringify({ input: "Hello" })

const listening = async (options: Node.ListenOptions = {}, adapter = hello(), more: Partial<ServerOptions> = {}) => {
  const home = await served({ adapter }, { authorize: () => ({ owner: "anna" }), ...more })
  const node = await Node.listen(home.server, options)
  onTestFinished(node.close)
  const post = (path: string, body: string, headers: Record<string, string> = json, signal?: AbortSignal) =>
    fetch(node.url + path, { method: "POST", headers, body, ...(signal === undefined ? {} : { signal }) })
  return { ...home, node, post, adapter }
}

/** A request as bytes. */
const bytes = (head: string, ...lines: ReadonlyArray<string>): string =>
  [head, "host: localhost", ...lines, "", ""].join("\r\n")

test("a conversation over a socket: a message with its events, then what stands in it", async () => {
  const { node, post } = await listening()
  const said = framesIn(await (await post("/chats/c1/messages", message, events)).text())
  expect(said.at(-1)?.type).toBe("chat_completed")
  const view = await (await fetch(`${node.url}/chats/c1`)).json()
  expect(view).toMatchObject({ phase: "idle", messages: [{ content: "Hello" }, { content: "Hi there" }] })
})

test("a stream's headers are there before its first frame", async () => {
  const { post, adapter } = await listening({}, endless())
  const stream = reading(await post("/chats/c1/messages", message, events))
  await stream.until("Once")
  const quiet = await fetch((await listening()).node.url)
  expect(quiet.status).toBe(404)
  expect(adapter.open).toBe(1)
  await stream.leave()
})

describe("NODE1 a client that reads no more", () => {
  test("holds what its socket holds and one frame, and is gone after a while", async () => {
    const frame = `data: ${"x".repeat(1_000)}\n\n`
    const clock = Clock.test()
    let pulled = 0
    let ended = 0
    let answer: ServerResponse | undefined
    const http = createServer({ highWaterMark: Node.socketBytes }, (_, outgoing) => {
      answer = outgoing
      const iterator: AsyncIterableIterator<string> = {
        [Symbol.asyncIterator]: () => iterator,
        next: async () => ({ done: false, value: ((pulled += 1), frame) })
      }
      const stream = new FrameStream(iterator, { last: undefined, failed: () => {}, ended: () => (ended += 1) })
      outgoing.once("close", () => stream.cancel())
      void write(outgoing, responseOf(stream, { headers: { "content-type": "text/event-stream" } }), {
        stallMs: 200,
        clock
      })
    })
    await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve))
    const socket = await connected(`http://127.0.0.1:${(http.address() as AddressInfo).port}`)
    socket.pause()
    socket.write(bytes("GET / HTTP/1.1"))

    await until(
      () => answer?.socket?.writableNeedDrain === true && answer.socket?.writableLength === answer.writableLength
    )
    let most = 0
    for (let isOpen = true; isOpen; isOpen = answer?.closed !== true) {
      most = Math.max(most, answer?.writableLength ?? 0)
      await clock.advance(200)
    }
    let before = -1
    await until(() => {
      const isStill = before === pulled
      before = pulled
      return isStill
    })
    expect(most).toBeGreaterThan(Node.socketBytes / 2)
    expect(most).toBeLessThanOrEqual(Node.socketBytes + 2 * frame.length)
    expect(ended).toBe(1)
    socket.destroy()
    await new Promise<void>((resolve) => void http.close(() => resolve()))
  })
})

describe("NODE2 a client that goes", () => {
  test("in the middle of a stream has it released, and the turn goes on", async () => {
    const { post, adapter, troupe } = await listening({}, endless(), { limits: { streams: 1 } })
    const gone = new AbortController()
    const stream = reading(await post("/chats/c1/messages", message, events, gone.signal))
    await stream.until("upon")
    gone.abort()
    let next = await post("/chats/c1/messages?wait", '{"input":""}')
    while ((next = await post("/chats/c1/messages", JSON.stringify({ input: "More" }), events)).status === 429) {
      await next.body?.cancel()
    }
    expect([next.status, adapter.open]).toEqual([200, 1])
    await (await troupe.chat("anna/c1")).cancel()
    await next.body?.cancel()
  })

  test("has it released though nobody but the server remembers the request", async () => {
    let ended = 0
    const server: Server = {
      hosts: undefined,
      close: async () => {},
      fetch: async ({ signal }) => {
        const never: AsyncIterableIterator<string> = {
          [Symbol.asyncIterator]: () => never,
          next: () => new Promise(() => {})
        }
        const stream = new FrameStream(never, { last: undefined, failed: () => {}, ended: () => (ended += 1) })
        signal.addEventListener("abort", () => stream.cancel())
        return responseOf(stream, {})
      }
    }
    const node = await Node.listen(server)
    onTestFinished(node.close)
    const socket = await connected(node.url)
    socket.write(bytes("GET / HTTP/1.1"))
    await until(() => socket.bytesRead > 0)
    globalThis.gc?.()
    socket.destroy()
    await until(() => ended > 0)
    expect(ended).toBe(1)
  })
})

test("NODE2 a client that goes has a body released that is no stream of this server's, though its next piece never comes", async () => {
  const released = Promise.withResolvers<string>()
  const body = () =>
    new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
      cancel: () => released.resolve("released")
    })
  const foreign: Server = { hosts: undefined, close: async () => {}, fetch: async () => new Response(body()) }
  const node = await Node.listen(foreign)
  onTestFinished(node.close)
  const client = new AbortController()
  const response = await fetch(node.url, { signal: client.signal })
  const reader = response.body?.getReader()
  await reader?.read()
  client.abort()
  expect(await released.promise).toBe("released")
})

describe("NODE3 a client that does not send what it began", () => {
  test.each([
    ["headers", "GET /chats/c1 HTTP/1.1\r\nhost: loc"],
    ["a body", bytes("POST /chats/c1/messages HTTP/1.1", "content-type: application/json", "content-length: 9") + "{"],
    ["nothing", ""]
  ])("%s: gets a refusal, and is cut", async (_, part) => {
    const { node } = await listening({ headersMs: 100, requestMs: 100, keepAliveMs: 100 })
    const came = await exchanged(node.url, part)
    expect(came).toContain('"code":"request_timeout"')
  })

  test.each([
    ["no request", "nonsense\r\n\r\n", "400", "malformed_request"],
    ["too many headers", bytes("GET / HTTP/1.1", `x: ${"a".repeat(20_000)}`), "431", "headers_too_large"],
    ["a header that splits", bytes("GET / HTTP/1.1", "x: a\rb"), "400", "malformed_request"],
    ["two lengths", bytes("POST / HTTP/1.1", "content-length: 1", "content-length: 2"), "400", "malformed_request"],
    ["no host", "GET / HTTP/1.1\r\nconnection: close\r\n\r\n", "400", "invalid_host"],
    ["a host with a path", "GET / HTTP/1.1\r\nhost: a/b\r\nconnection: close\r\n\r\n", "400", "invalid_host"],
    ["no path", bytes("GET ftp://localhost/ HTTP/1.1", "connection: close"), "400", "invalid_path"],
    ["another method", bytes("TRACE / HTTP/1.1", "connection: close"), "405", "method_not_allowed"]
  ])("%s is refused with a typed error", async (_, request, status, code) => {
    const { node } = await listening()
    const came = await exchanged(node.url, request)
    expect(came.split("\r\n", 1).join("")).toContain(status)
    expect(came).toContain(`"code":"${code}"`)
  })

  test("a body that is too large is refused while it comes, however long it says it is", async () => {
    const { node } = await listening({}, hello(), { limits: { bodyBytes: 1_000 } })
    const chunked = bytes(
      "POST /chats/c1/messages HTTP/1.1",
      "content-type: application/json",
      "transfer-encoding: chunked"
    )
    const chunk = `400\r\n${"a".repeat(1_024)}\r\n`
    const socket = await connected(node.url)
    const came = everything(socket)
    socket.write(chunked + chunk)
    await until(() => socket.bytesRead > 0)
    socket.destroySoon()
    expect(await came).toContain('"code":"body_too_large"')
  })

  test("the rest of a refused body is discarded and never read as a request, and the connection is cut after a second", async () => {
    const clock = Clock.test()
    const { node, adapter } = await listening({ clock }, hello(), { limits: { bodyBytes: 1_000 } })
    const socket = await connected(node.url)
    socket.on("error", () => {})
    const came = everything(socket)
    const head = bytes(
      "POST /chats/c1/messages HTTP/1.1",
      "content-type: application/json",
      "content-length: 1000000000"
    )
    socket.write(head + "a".repeat(2_000))
    await until(() => socket.bytesRead > 0)
    socket.write(bytes("GET /chats/c1 HTTP/1.1"))
    while (!socket.closed) {
      socket.write("a".repeat(2_000))
      await clock.advance(1_000)
    }
    expect((await came).match(/HTTP\/1\.1 \d+/gu)).toEqual(["HTTP/1.1 413"])
    expect(adapter.requests).toEqual([])
  })
})

test("a host that is not this computer's is refused where only this computer can ask", async () => {
  const { node } = await listening()
  const rebound =
    "GET /chats/c1 HTTP/1.1\r\nhost: evil.example\r\norigin: http://evil.example\r\nconnection: close\r\n\r\n"
  expect(await exchanged(node.url, rebound)).toContain('"code":"host_refused"')
  const listed = await listening({}, hello(), { hosts: ["app.example"] })
  expect(await exchanged(listed.node.url, rebound.replaceAll("evil.", "app."))).toContain('"code":"unknown_chat"')
})

describe("NODE4 closed", () => {
  test("it ends streams with their last frame, answers what it has, and takes no more", async () => {
    const adapter = endless()
    const asked = Promise.withResolvers<void>()
    const allowed = Promise.withResolvers<void>()
    const { node, post } = await listening({}, adapter, {
      authorize: async ({ url }) => {
        if (url.endsWith("/slow")) {
          asked.resolve()
          await allowed.promise
        }
        return { owner: "anna" }
      }
    })
    const stream = reading(await post("/chats/c1/messages", message, events))
    await stream.until("upon")
    const slow = fetch(`${node.url}/chats/slow`)
    await asked.promise
    const closed = node.close()
    expect(framesIn(await stream.rest()).at(-1)?.type).toBe("closing")
    await expect(fetch(`${node.url}/chats/c1`)).rejects.toThrow()
    allowed.resolve()
    expect(await codeOf(await slow)).toBe("404 unknown_chat")
    await closed
    await node.close()
  })

  test("a connection that nothing was said on holds it up no longer", async () => {
    const clock = Clock.test()
    const { node } = await listening({ clock })
    const silent = everything(await connected(node.url))
    await (await fetch(`${node.url}/chats/c1`)).text()
    await node.close()
    expect(await silent).toBe("")
  })

  test("what is left after its time is cut", async () => {
    const clock = Clock.test()
    const asked = Promise.withResolvers<void>()
    const never = new Promise<never>(() => {})
    const { node } = await listening({ clock, graceMs: 1_000 }, hello(), {
      authorize: () => {
        asked.resolve()
        return never
      }
    })
    const slow = fetch(`${node.url}/chats/c1`)
    await asked.promise
    const closed = node.close()
    await clock.advance(999)
    await Promise.all([expect(slow).rejects.toThrow(), clock.advance(1)])
    await closed
  })

  test("a port that is taken is said by a rejection", async () => {
    const { node, server } = await listening()
    await expect(Node.listen(server, { port: node.port })).rejects.toThrow("EADDRINUSE")
  })
})

test("unknown and invalid options, and a value that is no server, are refused by name", async () => {
  const { server } = await served()
  const refusal = (given: unknown, options: unknown) =>
    Node.listen(given as Server, options as Node.ListenOptions).then(
      () => "listens",
      (error: unknown) => (error instanceof ValidationError ? error.errors.map(({ field }) => field.join(".")) : error)
    )
  const wrong = { port: 70_000, host: 5, graceMs: -1, connections: 0, headerBytes: "x", clock: 5, prot: 1 }
  expect(await refusal(server, wrong)).toEqual([
    "prot",
    "port",
    "host",
    "graceMs",
    "connections",
    "headerBytes",
    "clock"
  ])
  expect(await refusal(server, null)).toEqual([""])
  expect(await refusal({}, {})).toEqual(["server"])
})
