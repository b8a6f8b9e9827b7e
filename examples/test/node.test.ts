import { createServer, type Server as HttpServer } from "node:http"
import { toNode } from "@troupe/server/Node"
import { Hono } from "hono"
import { afterAll, describe, expect, it } from "vitest"
import { app as express } from "../src/express.ts"
import { app as fastify } from "../src/fastify.ts"
import { chats } from "../src/chats.ts"
import { answers, streams, survivesDisconnects } from "./double/visits.ts"

const { fetch: answer } = await chats("/chat")
const hono = new Hono().all("/chat/*", ({ req }) => answer(req.raw))

const open: Array<HttpServer> = []

const listening = async (http: HttpServer): Promise<string> => {
  open.push(http)
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", () => resolve()))
  return `http://127.0.0.1:${(http.address() as { readonly port: number }).port}/chat`
}

const started: Readonly<Record<string, () => Promise<string>>> = {
  Express: () => listening(createServer(express)),
  Fastify: async () => `${await fastify.listen({ port: 0, host: "127.0.0.1" })}/chat`,
  Hono: () => listening(createServer(toNode((request) => hono.fetch(request))))
}

afterAll(async () => {
  await (await chats()).close()
  for (const http of open) {
    http.closeAllConnections()
    http.close()
  }
  fastify.server.closeAllConnections()
  await fastify.close()
})

describe.each(Object.entries(started))("%s", (name, start) => {
  it("answers, streams and survives disconnects", async () => {
    const base = await start()
    await expect(answers(base, name)).resolves.toBeUndefined()
    await expect(streams(base, name)).resolves.toBeUndefined()
    await expect(survivesDisconnects(base, name)).resolves.toBeUndefined()
  })
})
