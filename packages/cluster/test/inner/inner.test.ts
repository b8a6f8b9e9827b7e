import { Clock } from "@troupe/otp"
import * as net from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { InnerClient, type InnerClientOptions } from "../../src/inner/InnerClient.ts"
import { type Accepted, listenInner } from "../../src/inner/InnerListener.ts"
import { freshMs, hashOf, seal, SignatureCheck } from "../../src/inner/signature.ts"

const secret = "the secret of a test"
const clock = Clock.live

const listening = async (handle: (accepted: Accepted) => Promise<Response>): Promise<string> => {
  const check = new SignatureCheck(secret, () => clock.now())
  const { address, close } = await listenInner({ listen: "127.0.0.1:0", clock, check, handle })
  onTestFinished(close)
  return address
}

const client = (options: Partial<InnerClientOptions> = {}): InnerClient => {
  const made = new InnerClient({ secret, clock, ...options })
  onTestFinished(() => made.close())
  return made
}

/** A node that accepts connections and never answers, as a frozen one does. */
const frozen = async (head = ""): Promise<string> => {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    if (head !== "") socket.once("data", () => socket.write(head))
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as net.AddressInfo).port}`
}

const get = { method: "GET", path: "/chats/c?x=1", note: "" }

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

  it("INNER5: a body that is not the signed one is refused", async () => {
    const address = await listening(async () => new Response("x"))
    const headers = seal(
      secret,
      { method: "POST", path: "/", to: address, note: "", bodyHash: hashOf(undefined) },
      clock.now()
    )
    const answer = await fetch(`http://${address}/`, { method: "POST", headers, body: "other" })
    expect([answer.status, answer.headers.get("x-troupe-refused")]).toEqual([401, "signature"])
  })

  it("SEAL1: a node refuses a request that was signed for another address", async () => {
    const address = await listening(async () => new Response("x"))
    const headers = seal(
      secret,
      { method: "GET", path: "/", to: "other:1", note: "", bodyHash: hashOf(undefined) },
      clock.now()
    )
    const answer = await fetch(`http://${address}/`, { headers })
    expect(answer.status).toBe(401)
  })
})

describe("deadlines", () => {
  it("INNER1: a frozen node is given up at the deadline of the head", async () => {
    const address = await frozen()
    await expect(client({ headMs: 60 }).request(address, get)).rejects.toMatchObject({ reason: "silent" })
  })

  it("INNER1, INNER4: a node that works longer than the deadline says so, and its answer is awaited", async () => {
    const answered = Promise.withResolvers<Response>()
    const address = await listening(() => answered.promise)
    const asked = client({ headMs: 1_300 }).request(address, get)
    clock.setTimeout(() => answered.resolve(new Response("late")), 1_600)
    expect(await (await asked).text()).toBe("late")
  })

  it("INNER2: an answer that falls silent fails while its reader waits", async () => {
    const address = await frozen("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n")
    let cuts = 0
    const answer = await client({ quietMs: 60 }).request(address, { ...get, onCut: () => void (cuts += 1) })
    const reader = answer.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: 1\n\n")
    expect(cuts).toBe(0)
    await expect(reader?.read()).rejects.toMatchObject({ reason: "silent" })
    expect(cuts).toBe(1)
  })

  it("INNER2: an answer that is read to its end, or whose reader leaves, was not cut", async () => {
    let cuts = 0
    const request = { ...get, onCut: () => void (cuts += 1) }
    const address = await listening(async () => new Response("whole"))
    const whole = await client().request(address, request)
    expect(await whole.text()).toBe("whole")
    const left = await client().request(await frozen("HTTP/1.1 200 OK\r\n\r\ndata"), request)
    await left.body?.cancel()
    expect(cuts).toBe(0)
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
