import { createServer, type IncomingMessage } from "node:http"
import { onTestFinished, expect, test } from "vitest"
import { toNode } from "../../src/node/Node.ts"
import { HttpError } from "../../src/errors/HttpError.ts"

type Fetch = Parameters<typeof toNode>[0]

const listening = async (fetch: Fetch, before?: (incoming: IncomingMessage) => Promise<void>): Promise<string> => {
  const handle = toNode(fetch)
  const http = createServer((incoming, outgoing) => {
    void (async () => {
      await before?.(incoming)
      await handle(incoming, outgoing)
    })()
  })
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", () => resolve()))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as { readonly port: number }).port}`
}

const echo: Fetch = async (request) =>
  Response.json({ body: await request.text(), path: new URL(request.url).pathname })

test("a handler of Node's HTTP gets the request, and its answer is sent", async () => {
  const url = await listening(echo)
  const response = await fetch(`${url}/a/b`, { method: "POST", body: "hello" })
  expect(await response.json()).toEqual({ body: "hello", path: "/a/b" })
})

const inPieces = (pieces: ReadonlyArray<Uint8Array<ArrayBuffer>>): ReadableStream =>
  new ReadableStream({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    }
  })

test("a body of bytes arrives whole, whatever the sizes of its pieces, and a HEAD has none", async () => {
  const sizes = [3, 0, 70_000, 1, 16_384]
  const pieces = sizes.map((size, index) => new Uint8Array(size).fill(index + 65))
  const url = await listening(async () => new Response(inPieces(pieces)))
  expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(Buffer.concat(pieces))).toBe(true)
  const head = await fetch(url, { method: "HEAD" })
  expect([head.status, await head.text()]).toEqual([200, ""])
  expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(86_388)
})

test("a body that a parser of the framework has read is taken from it", async () => {
  const url = await listening(echo, async (incoming) => {
    let text = ""
    for await (const chunk of incoming) text += String(chunk)
    Reflect.set(incoming, "body", JSON.parse(text))
  })
  const response = await fetch(url, { method: "POST", body: '{ "a": 1 }' })
  expect(await response.json()).toMatchObject({ body: '{"a":1}' })
})

test("NODE2. a client that disconnects aborts the request and cancels the stream", async () => {
  const over = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const url = await listening((request) => {
    request.signal.addEventListener("abort", () => aborted.resolve())
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
        cancel: () => over.resolve()
      })
    )
  })
  const gone = new AbortController()
  const response = await fetch(url, { signal: gone.signal })
  await response.body?.getReader().read()
  gone.abort()
  expect(await Promise.all([over.promise, aborted.promise])).toHaveLength(2)
})

test("a refusal is answered, and an unexpected error cuts the connection", async () => {
  const refusing = await listening(() => {
    throw new HttpError("forbidden", "No")
  })
  expect((await fetch(refusing)).status).toBe(403)
  const failing = await listening(() => {
    throw new Error("a secret of the program")
  })
  await expect(fetch(failing)).rejects.toThrow()
})
