/** Fastify: the chats read their own bodies, and write their own answers. */
import { toNode } from "@troupe/server/Node"
import Fastify from "fastify"
import { chats } from "./chats.ts"

const { fetch } = await chats("/chat")
const handle = toNode(fetch)

export const app = Fastify()
await app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _body, done) => done(null))
  scope.all("/chat/*", async (request, reply) => {
    reply.hijack()
    await handle(request.raw, reply.raw)
  })
})
