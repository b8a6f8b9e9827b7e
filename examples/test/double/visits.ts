/** What every server around the chats must be able to do. Rejects when one cannot. */
import assert from "node:assert/strict"

/** The requests of a client under one address. */
const visitor = (base: string) => {
  const post = (path: string, body: unknown, signal?: AbortSignal): Promise<Response> =>
    fetch(`${base}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
      ...(signal === undefined ? {} : { signal })
    })
  const said = (id: string, text: string) => ({
    id,
    message: { id: `${id}.u1`, role: "user", parts: [{ type: "text", text }] }
  })
  const phase = async (id: string): Promise<unknown> => {
    const response = await fetch(`${base}/chats/${id}`)
    return ((await response.json()) as { readonly phase?: unknown }).phase
  }
  return { post, said, phase }
}

/** Reads a stream until it has a text, and returns the reader. */
const readUntil = async (response: Response, text: string) => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) throw new Error("the response has no body")
  let body = ""
  while (!body.includes(text)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`the stream ended without ${text}: ${body}`)
    body += value
  }
  return reader
}

/** A whole answer, and a refusal. */
export const answers = async (base: string, name: string): Promise<void> => {
  const { post } = visitor(base)
  const response = await post(`/chats/${name} a/messages?wait`, { input: "Hello" })
  assert.equal(response.status, 200)
  assert.match(await response.text(), /"outputText":"Hi there\."/u)
  assert.equal((await fetch(`${base}/chats/none`)).status, 404)
}

/** A stream whose first words arrive before its end, which another request brings about. */
export const streams = async (base: string, name: string): Promise<void> => {
  const { post, said, phase } = visitor(base)
  const id = `${name} b`
  const response = await post("/api/chat", said(id, "Wait"))
  assert.match(response.headers.get("content-type") ?? "", /text\/event-stream/u)
  const reader = await readUntil(response, "Once")
  assert.equal(await phase(id), "streaming")
  assert.equal((await post(`/chats/${id}/cancel`, {})).status, 200)
  for (let next = await reader.read(); !next.done; next = await reader.read());
  assert.equal(await phase(id), "idle")
}

/**
 * A client that disconnects: its answer continues, and its next message interrupts that answer. `isNoticed` is whether the
 * server notices a disconnect at once; otherwise the message says that it interrupts.
 */
export const survivesDisconnects = async (base: string, name: string, isNoticed = true): Promise<void> => {
  const { post, said, phase } = visitor(base)
  const id = `${name} c`
  const gone = new AbortController()
  await readUntil(await post("/api/chat", said(id, "Wait"), gone.signal), "Once")
  gone.abort()
  assert.equal(await phase(id), "streaming")
  const message = { id: `${id}.u2`, role: "user", parts: [{ type: "text", text: "Hello" }] }
  const next = await post("/api/chat", { id, message, ...(isNoticed ? {} : { whenBusy: "interrupt" }) })
  assert.match(await next.text(), /Hi there\./u)
}
