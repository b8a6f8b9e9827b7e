import { Clock } from "@troupe/otp"
import { once } from "node:events"
import * as http2 from "node:http2"
import * as net from "node:net"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import type { ClusterError } from "../../src/placement/index.ts"
import { InnerClient, type InnerClientOptions } from "../../src/inner/InnerClient.ts"
import { type Accepted, listenInner } from "../../src/inner/InnerListener.ts"
import { machineTime } from "../../src/inner/machineTime.ts"
import { freshMs, hashOf, seal, SignatureCheck } from "../../src/inner/signature.ts"
import { NodeClock } from "../../src/testing/nodeClock.ts"

const secret = "the secret of a test"
const clock = Clock.live

const listening = async (
  handle: (accepted: Accepted) => Promise<Response>,
  mostNonces?: number,
  time: Clock.Clock = clock
): Promise<string> => {
  const check = new SignatureCheck(secret, machineTime, mostNonces)
  const { address, close } = await listenInner({ listen: "127.0.0.1:0", clock: time, check, handle })
  onTestFinished(close)
  return address
}

const client = (options: Partial<InnerClientOptions> = {}): InnerClient => {
  const made = new InnerClient({ secret, clock, ...options })
  onTestFinished(() => made.close())
  return made
}

/** A node that accepts connections and never answers, as a frozen one does. */
const frozen = async (sockets = new Set<net.Socket>()): Promise<string> => {
  const server = net.createServer((socket) => {
    sockets.add(socket.resume())
    socket.on("error", () => {})
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as net.AddressInfo).port}`
}

/** A node that does this with each stream, and nothing by itself. */
const plain = async (
  handle: (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void
): Promise<string> => {
  const server = http2.createServer()
  const sessions = new Set<http2.Http2Session>()
  server.on("session", (session) => sessions.add(session))
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {})
    handle(stream, headers)
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as net.AddressInfo).port}`
}

/** A node that answers with a head and a piece, and then does this with the stream. */
const begun = (then: (stream: http2.ServerHttp2Stream) => unknown = () => {}): Promise<string> =>
  plain((stream) => {
    stream.respond({ ":status": 200, "content-type": "text/event-stream" })
    stream.write("data: 1\n\n", () => then(stream))
  })

/** An address whose connections lead to a node, which may change. `seen` gets the bytes that a sender sends. */
const passing = async ({ seen }: { readonly seen: (bytes: Buffer) => void }) => {
  let target = ""
  const server = net.createServer((socket) => {
    const { hostname, port } = new URL(`http://${target}`)
    const to = net.connect(Number(port), hostname)
    for (const end of [socket, to]) end.on("error", () => {})
    socket.on("data", seen)
    socket.pipe(to).pipe(socket)
    to.on("close", () => socket.destroy())
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as net.AddressInfo
  return { address: `127.0.0.1:${port}`, lead: (to: string) => void (target = to) }
}

/** Takes at least so many bytes of a body. */
const take = async (stream: http2.ServerHttp2Stream, bytes: number): Promise<void> => {
  for (let taken = 0; taken < bytes;) {
    const piece = stream.read() as Buffer | null
    if (piece === null) await once(stream, "readable")
    else taken += piece.byteLength
  }
}

/** Posts to a node without a client of ours. */
const posted = async (
  address: string,
  headers: http2.OutgoingHttpHeaders,
  body?: string
): Promise<http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader> => {
  const session = http2.connect(`http://${address}`)
  onTestFinished(() => session.destroy())
  const stream = session.request(headers)
  const { promise, resolve, reject } = Promise.withResolvers<http2.IncomingHttpHeaders>()
  stream.on("response", resolve)
  stream.on("error", reject)
  stream.resume().end(body)
  return promise
}

const get = { method: "GET", path: "/chats/c?x=1", note: "" }
const post = { method: "POST", path: "/chats/c/messages", note: "" }

describe("signed requests", () => {
  it("a signed request reaches its handler with its note and body, and the answer comes back whole", async () => {
    const seen: Array<Accepted> = []
    const address = await listening(async (accepted) => {
      seen.push(accepted)
      return Response.json({ ok: true }, { status: 202, headers: { "x-one": "1" } })
    })
    const body = new TextEncoder().encode("héllo")
    const answer = await client().request(address, { method: "POST", path: "/a/b?c=d", note: "who", body })
    expect([answer.status, answer.headers.get("x-one"), await answer.json()]).toEqual([202, "1", { ok: true }])
    expect(seen.map(({ method, path, note }) => [method, path, note])).toEqual([["POST", "/a/b?c=d", "who"]])
    expect(new TextDecoder().decode(seen[0]?.body)).toBe("héllo")
  })

  it("SEAL1: a request under another secret is refused and reaches no handler", async () => {
    let calls = 0
    const address = await listening(async () => {
      calls += 1
      return new Response("x")
    })
    await expect(client({ secret: "another" }).request(address, get)).rejects.toMatchObject({ reason: "unauthorized" })
    expect(calls).toBe(0)
  })

  it("SEAL1: each covered part of a request that is changed makes its signature invalid", () => {
    const signed = { method: "POST", path: "/a", to: "n1:1", note: "note", bodyHash: hashOf(undefined) }
    const changes = [
      { method: "GET" },
      { path: "/b" },
      { to: "n2:1" },
      { header: ["x-troupe-note", "other"] },
      { header: ["x-troupe-body", hashOf(new Uint8Array(1))] },
      { header: ["x-troupe-time", "1001"] },
      { header: ["x-troupe-nonce", "00"] }
    ] as const
    for (const change of changes) {
      const check = new SignatureCheck(secret, () => 1_000)
      const headers = { ...seal(secret, signed, 1_000) }
      if ("header" in change) headers[change.header[0]] = change.header[1]
      expect(check.check({ ...signed, ...change }, headers)).toEqual({ refused: "signature" })
    }
  })

  it("SEAL2: a signature is accepted once, and only within half a minute", () => {
    let now = 100_000
    const check = new SignatureCheck(secret, () => now)
    const signed = { method: "GET", path: "/", to: "n:1", note: "", bodyHash: hashOf(undefined) }
    const headers = seal(secret, signed, now)
    const late = seal(secret, signed, now)
    expect(check.check(signed, headers)).toMatchObject({ note: "" })
    expect(check.check(signed, headers)).toEqual({ refused: "signature" })
    now += freshMs + 1
    expect(check.check(signed, late)).toEqual({ refused: "time" })
    expect(check.check(signed, headers)).toEqual({ refused: "time" })
  })

  it("SEAL2: a signature for an earlier run of a node is refused, also when its clock was ahead", () => {
    const [before, after] = [new SignatureCheck(secret, () => 1_000), new SignatureCheck(secret, () => 2_000)]
    const signed = { method: "GET", path: "/", to: "n:1", run: before.run, note: "", bodyHash: hashOf(undefined) }
    const headers = seal(secret, signed, 9_000)
    expect(before.check(signed, headers)).toMatchObject({ note: "" })
    expect(after.check(signed, headers)).toEqual({ refused: "signature" })
    const { "x-troupe-run": _, ...withoutRun } = headers
    expect(after.check(signed, withoutRun)).toEqual({ refused: "signature" })
    expect(after.check(signed, { ...headers, "x-troupe-run": String(after.run) })).toEqual({ refused: "signature" })
  })

  it("SEAL2: a signature of a former build is accepted once, and is to be made again if it is older than the run", () => {
    const signed = { method: "GET", path: "/", to: "n:1", note: "", bodyHash: hashOf(undefined) }
    const check = new SignatureCheck(secret, () => 2_000)
    expect(check.check(signed, seal(secret, signed, 1_999))).toEqual({ refused: "busy" })
    const headers = seal(secret, signed, 2_000)
    expect(check.check(signed, headers)).toMatchObject({ note: "" })
    expect(check.check(signed, headers)).toEqual({ refused: "signature" })
  })

  it("SEAL2: a request to a node of a former build has the signature of that build", async () => {
    const check = new SignatureCheck(secret, machineTime)
    const seen = Promise.withResolvers<http2.IncomingHttpHeaders>()
    const address = await plain((stream, headers) => {
      seen.resolve(headers)
      stream.respond({ ":status": 204 }, { endStream: true })
    })
    expect((await client().request(address, get)).status).toBe(204)
    const { note: _, ...request } = { ...get, to: address }
    expect(Object.keys(await seen.promise)).not.toContain("x-troupe-run")
    expect(check.check(request, await seen.promise)).toMatchObject({ note: "" })
  })

  it("SEAL2: a request that was recorded is refused by the next run of its node", async () => {
    const recorded: Array<Buffer> = []
    const address = await passing({ seen: (bytes) => recorded.push(bytes) })
    let calls = 0
    const run = async () => {
      const check = new SignatureCheck(secret, machineTime)
      const handle = async (): Promise<Response> => {
        calls += 1
        return new Response("x")
      }
      const node = await listenInner({ listen: "127.0.0.1:0", address: address.address, clock, check, handle })
      address.lead(node.bound)
      return node
    }
    const first = await run()
    await (await client().request(address.address, { ...post, body: new Uint8Array(10) })).text()
    await first.close()
    const second = await run()
    onTestFinished(second.close)
    const { hostname, port } = new URL(`http://${address.address}`)
    const socket = net.connect(Number(port), hostname)
    socket.on("error", () => {})
    socket.resume().write(Buffer.concat(recorded))
    await once(socket, "close")
    expect(calls).toBe(1)
  })

  it("SEAL3: a full table of nonces refuses requests until the oldest are too old", () => {
    let now = 0
    const check = new SignatureCheck(secret, () => now, 2)
    const signed = { method: "GET", path: "/", to: "n:1", note: "", bodyHash: hashOf(undefined) }
    const next = () => check.check(signed, seal(secret, signed, now))
    expect([next(), next(), next()].map((one) => "refused" in one)).toEqual([false, false, true])
    now += 2 * freshMs + 1
    expect("refused" in next()).toBe(false)
    expect(check.size).toBe(1)
  })

  it("SEAL3: a request that a full table refuses was not processed, and may be sent again", async () => {
    const address = await listening(async () => new Response("x"), 1)
    const asking = client()
    expect(await (await asking.request(address, get)).text()).toBe("x")
    await expect(asking.request(address, get)).rejects.toMatchObject({ reason: "unreached" })
  })

  it("INNER5: a body that is not the signed one is refused", async () => {
    const address = await listening(async () => new Response("x"))
    const headers = seal(
      secret,
      { method: "POST", path: "/", to: address, note: "", bodyHash: hashOf(undefined) },
      machineTime()
    )
    const answer = await posted(address, { ":method": "POST", ":path": "/", ...headers }, "other")
    expect([answer[":status"], answer["x-troupe-refused"]]).toEqual([401, "signature"])
  })

  it("INNER7: the first unsigned stream ends its connection, and those behind it get no answer", async () => {
    let calls = 0
    const address = await listening(async () => {
      calls += 1
      return new Response("x")
    })
    const session = http2.connect(`http://${address}`)
    onTestFinished(() => session.destroy())
    session.on("error", () => {})
    const statuses: Array<number | undefined> = []
    const streams = Array.from({ length: 50 }, () => {
      const stream = session.request({ ":method": "POST" })
      stream.on("error", () => {})
      stream.on("response", ({ ":status": status }) => statuses.push(status))
      return stream
    })
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once("close", resolve))))
    if (!session.destroyed) await once(session, "close")
    expect([statuses, calls]).toEqual([[401], 0])
  })

  it("SEAL1: a node refuses a request that was signed for another address", async () => {
    const address = await listening(async () => new Response("x"))
    const headers = seal(
      secret,
      { method: "GET", path: "/", to: "other:1", note: "", bodyHash: hashOf(undefined) },
      machineTime()
    )
    expect(await posted(address, { ":path": "/", ...headers })).toMatchObject({ ":status": 401 })
  })
})

describe("deadlines", () => {
  it("INNER1: a node that is silent is given up at the deadline of the head", async () => {
    const address = await plain(() => {})
    await expect(client({ headMs: 60 }).request(address, get)).rejects.toMatchObject({ reason: "silent" })
  })

  it("INNER1: the connection to a frozen node is used no more, and is closed; the node did not get the request", async () => {
    const sockets = new Set<net.Socket>()
    const address = await frozen(sockets)
    const asking = client({ headMs: 60 })
    for (const connections of [1, 2]) {
      await expect(asking.request(address, get)).rejects.toMatchObject({ reason: "unreached" })
      expect(sockets.size).toBe(connections)
    }
    await Promise.all(Array.from(sockets, async (socket) => socket.closed || once(socket, "close")))
  })

  it("requests at the same time share a connection", async () => {
    let beginnings = 0
    const { address, lead } = await passing({
      seen: (bytes) => void (beginnings += bytes.includes("PRI * HTTP/2.0") ? 1 : 0)
    })
    const check = new SignatureCheck(secret, machineTime)
    const handle = async (): Promise<Response> => new Response("x")
    const { bound, close } = await listenInner({ listen: "127.0.0.1:0", address, clock, check, handle })
    onTestFinished(close)
    lead(bound)
    const asking = client()
    const answers = await Promise.all(Array.from({ length: 200 }, () => asking.request(address, get)))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(200)
    expect(beginnings).toBe(1)
  })

  it.each([
    ["frozen", "unreached", () => frozen()],
    ["silent", "silent", () => plain(() => {})]
  ] as const)(
    "INNER1, HOP2: a request to a node that is %s fails with `%s` after two seconds, and not before",
    async (_, reason, start) => {
      const time = Clock.test()
      let failure: unknown
      const asking = client({ clock: time })
      const asked = asking.request(await start(), get)
      const failed = asked.catch((error: unknown) => (failure = error))
      await time.advance(1_999)
      expect(failure).toBeUndefined()
      await time.advance(1)
      expect(await failed).toMatchObject({ reason })
    }
  )

  it("INNER1: the deadline of a request may be longer", async () => {
    const time = Clock.test()
    let failure: unknown
    const asked = client({ clock: time }).request(await plain(() => {}), { ...post, headMs: 7_000 })
    const failed = asked.catch((error: unknown) => (failure = error))
    await time.advance(6_999)
    expect(failure).toBeUndefined()
    await time.advance(1)
    expect(await failed).toMatchObject({ reason: "silent" })
  })

  describe("a node whose thread was busy until after a deadline reads first what has come", () => {
    /** HTTP/2 writes in the phase of immediates. What it has written is read after that. */
    const written = (): Promise<unknown> => new Promise(setImmediate)
    const busy = () => {
      const time = Clock.test()
      const thread = new NodeClock(time)
      thread.freeze()
      return {
        thread,
        /** The thread goes on, when its sockets have what `write` writes, and it has not read that. */
        goOn: async (ms: number, write: () => unknown): Promise<void> => {
          await time.advance(ms)
          await write()
          thread.wake()
        },
        advance: (ms: number) => time.advance(ms)
      }
    }

    it("INNER1: a note before the head", async () => {
      const asked = Promise.withResolvers<http2.ServerHttp2Stream>()
      const { thread, goOn } = busy()
      const answer = client({ clock: thread }).request(await plain(asked.resolve), get)
      answer.catch(() => {})
      const stream = await asked.promise
      await goOn(2_500, () => {
        stream.additionalHeaders({ ":status": 102 })
        return written()
      })
      await written()
      stream.respond({ ":status": 204 }, { endStream: true })
      expect((await answer).status).toBe(204)
    })

    it("INNER1: the settings of the other node", async () => {
      const sockets = new Set<net.Socket>()
      const { thread, goOn, advance } = busy()
      let failure: unknown
      client({ clock: thread })
        .request(await frozen(sockets), get)
        .catch((error: unknown) => (failure = error))
      const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
      await goOn(2_500, () => sockets.forEach((socket) => socket.write(emptySettings)))
      await advance(1_999)
      expect(failure).toBeUndefined()
      await advance(1)
      expect(failure).toMatchObject({ reason: "silent" })
    })

    it("INNER2: a piece of an answer", async () => {
      const answering = Promise.withResolvers<http2.ServerHttp2Stream>()
      const { thread, goOn } = busy()
      const answer = await client({ clock: thread, quietMs: 60 }).request(await begun(answering.resolve), get)
      const reader = answer.body?.getReader()
      await reader?.read()
      const read = reader?.read()
      read?.catch(() => {})
      const stream = await answering.promise
      await goOn(100, () => {
        stream.write("data: 2\n\n")
        return written()
      })
      expect(new TextDecoder().decode((await read)?.value)).toBe("data: 2\n\n")
    })
  })

  it("many readers that leave do not cost the others their connection", async () => {
    const address = await listening(
      async () => new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([1])) }))
    )
    const asking = client({ headMs: 600_000, quietMs: 600_000 })
    const staying = await asking.request(address, get)
    const reader = staying.body?.getReader()
    await reader?.read()
    // More than the resets that HTTP/2 in Node allows at once.
    for (let round = 0; round < 15; round++) {
      const leaving = await Promise.all(Array.from({ length: 100 }, () => asking.request(address, get)))
      await Promise.all(leaving.map(async ({ body }) => body?.cancel()))
    }
    const still = await Promise.race([reader?.read(), asking.request(address, get).then(() => "open")])
    expect(still).toBe("open")
  })

  it("a note of too many headers is refused before it is sent", async () => {
    const address = await listening(async () => new Response("x"))
    const asked = client().request(address, { ...get, note: "x".repeat(60_001) })
    await expect(asked).rejects.toMatchObject({ code: "headers_too_large" })
    expect((await client().request(address, { ...get, note: "x".repeat(60_000) })).status).toBe(200)
  })

  it("INNER1, INNER4: a node that works longer than the deadline says so, and its answer is awaited", async () => {
    const answered = Promise.withResolvers<Response>()
    const address = await listening(() => answered.promise)
    const asked = client({ headMs: 2_500 }).request(address, get)
    clock.setTimeout(() => answered.resolve(new Response("late")), 2_800)
    expect(await (await asked).text()).toBe("late")
  })

  it("INNER1: an upload that its node takes slowly is no silence; one that the node stops to take is", async () => {
    const uploads = Promise.withResolvers<http2.ServerHttp2Stream>()
    // It sends no notes.
    const address = await plain((stream) => uploads.resolve(stream))
    const time = Clock.test()
    let failure: unknown
    const asked = client({ clock: time }).request(address, { ...post, body: new Uint8Array(4_000_000) })
    const failed = asked.catch((error: unknown) => (failure = error))
    const upload = await uploads.promise
    // More than the network holds: the sender has written another piece since the last step.
    for (let step = 0; step < 10; step++) {
      await take(upload, 300_000)
      await time.advance(1_900)
    }
    expect(failure).toBeUndefined()
    await time.advance(2_000)
    expect(await failed).toMatchObject({ reason: "silent" })
  })

  it("INNER1: an upload keeps the other requests of its connection waiting", async () => {
    const uploads = Promise.withResolvers<http2.ServerHttp2Stream>()
    const others = Promise.withResolvers<http2.ServerHttp2Stream>()
    const address = await plain((stream, { ":method": method }) => {
      ;(method === "POST" ? uploads : others).resolve(stream)
    })
    const time = Clock.test()
    const asking = client({ clock: time })
    const upload = asking.request(address, { ...post, body: new Uint8Array(1_000_000) })
    const other = asking.request(address, get)
    other.catch(() => {})
    for (let step = 0; step < 3; step++) {
      await take(await uploads.promise, 300_000)
      await time.advance(1_900)
    }
    for (const answering of [others, uploads])
      (await answering.promise).respond({ ":status": 204 }, { endStream: true })
    expect([(await other).status, (await upload).status]).toEqual([204, 204])
  })

  it("INNER4: a node sends notes while a body comes, and none while nothing comes", async () => {
    const time = Clock.test()
    const handling = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<Response>()
    const address = await listening(
      () => {
        handling.resolve()
        return answered.promise
      },
      undefined,
      time
    )
    const signed = { method: "POST", path: "/", to: address, note: "", bodyHash: hashOf(Buffer.from("abc")) }
    const session = http2.connect(`http://${address}`)
    onTestFinished(() => session.destroy())
    const stream = session.request({ ":method": "POST", ":path": "/", ...seal(secret, signed, machineTime()) })
    let notes = 0
    stream.on("headers", () => void (notes += 1))
    const status = new Promise((resolve) => stream.on("response", ({ ":status": code }) => resolve(code)))
    /** The notes after some time. All that was written before has arrived. */
    const notesAfter = async (ms: number): Promise<number> => {
      for (const waitMs of [ms, 0]) {
        await new Promise((resolve) => void session.ping(resolve))
        await time.advance(waitMs)
      }
      return notes
    }
    stream.write("a")
    expect(await notesAfter(250)).toBe(1)
    expect(await notesAfter(5_000)).toBe(1)
    stream.write("b")
    expect(await notesAfter(1_000)).toBe(2)
    expect(await notesAfter(5_000)).toBe(2)
    stream.end("c")
    await handling.promise
    expect(await notesAfter(3_000)).toBe(5)
    answered.resolve(new Response("done"))
    expect(await status).toBe(200)
  })

  it("INNER10: a request whose sender leaves while its body comes is reported nowhere, and reaches no handler", async () => {
    const lines: Array<string> = []
    const printed = vi.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line))
    onTestFinished(() => printed.mockRestore())
    let calls = 0
    const address = await listening(async () => {
      calls += 1
      return new Response("x")
    })
    const signed = { method: "POST", path: "/", to: address, note: "", bodyHash: hashOf(Buffer.from("abc")) }
    const session = http2.connect(`http://${address}`)
    onTestFinished(() => session.destroy())
    const stream = session.request({ ":method": "POST", ":path": "/", ...seal(secret, signed, machineTime()) })
    stream.on("error", () => {})
    stream.write("a")
    await new Promise((resolve) => void session.ping(resolve))
    stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
    await new Promise((resolve) => void session.ping(resolve))
    expect((await client().request(address, get)).status).toBe(200)
    expect([calls, lines]).toEqual([1, []])
  })

  it("INNER2: an answer that falls silent fails while its reader waits", async () => {
    const address = await begun()
    let cuts = 0
    const time = Clock.test()
    const request = { ...get, onCut: () => void (cuts += 1) }
    const answer = await client({ clock: time, quietMs: 60 }).request(address, request)
    const reader = answer.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n")
    expect(cuts).toBe(0)
    const read = reader?.read()
    read?.catch(() => {})
    await time.advance(59)
    expect(cuts).toBe(0)
    await time.advance(61)
    await expect(read).rejects.toMatchObject({ reason: "silent" })
    expect(cuts).toBe(1)
  })

  it("INNER2: an answer that is read to its end, or whose reader leaves, was not cut", async () => {
    let cuts = 0
    const request = { ...get, onCut: () => void (cuts += 1) }
    const address = await listening(async () => new Response("whole"))
    const whole = await client().request(address, request)
    expect(await whole.text()).toBe("whole")
    const left = await client().request(await begun(), request)
    await left.body?.cancel()
    expect(cuts).toBe(0)
  })

  it.each([
    ["fails", (stream: http2.ServerHttp2Stream) => stream.destroy(new Error("failed"))],
    ["closes its connection", (stream: http2.ServerHttp2Stream) => stream.session?.destroy()],
    ["is killed", (stream: http2.ServerHttp2Stream) => stream.session?.socket.destroy()]
  ])("INNER2: an answer whose node %s is cut, and does not seem whole", async (_, then) => {
    let cuts = 0
    const answer = await client().request(await begun(then), { ...get, onCut: () => void (cuts += 1) })
    await expect(answer.text()).rejects.toMatchObject({ reason: "silent" })
    expect(cuts).toBe(1)
  })

  it("a node that is gone is unreached: it did not get the request", async () => {
    const server = net.createServer()
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as net.AddressInfo
    await new Promise((resolve) => server.close(resolve))
    await expect(client().request(`127.0.0.1:${port}`, get)).rejects.toMatchObject({ reason: "unreached" })
  })

  it("INNER3: a reader that leaves cuts the connection, and the handler's signal is aborted", async () => {
    const aborted = Promise.withResolvers<void>()
    const address = await listening(async ({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve())
      return new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([1])) }))
    })
    const answer = await client().request(address, get)
    const reader = answer.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(await aborted.promise).toBeUndefined()
  })
})

describe("INNER8: a listener that closes", () => {
  const closing = async (time: Clock.Clock = clock) => {
    const [came, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()]
    const check = new SignatureCheck(secret, machineTime)
    const { address, close } = await listenInner({
      listen: "127.0.0.1:0",
      clock: time,
      check,
      handle: () => {
        came.resolve()
        return answer.promise
      }
    })
    onTestFinished(close)
    return { address, close, came: came.promise, answer: answer.resolve }
  }

  it("answers the requests that it has accepted, and processes none that come later", async () => {
    const { address, close, came, answer } = await closing()
    const asking = client()
    const first = asking.request(address, get)
    await came
    const closed = close()
    const second = asking.request(address, get)
    await expect(second).rejects.toMatchObject({ reason: "unreached" })
    answer(new Response("late"))
    expect(await (await first).text()).toBe("late")
    await closed
  })

  it("waits for at most `closeMs`", async () => {
    const time = Clock.test()
    const { address, close, came } = await closing(time)
    const reason = client()
      .request(address, get)
      .catch((error: ClusterError) => error.reason)
    await came
    const closed = close()
    await time.advance(1_000)
    await closed
    expect(await reason).toBe("silent")
  })
})
