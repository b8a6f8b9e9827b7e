/** Hono: its handlers have the same types as `server.fetch`. */
import { Hono } from "hono"
import { chats } from "./chats.ts"

const { fetch } = await chats("/chat")

export const app = new Hono()
app.all("/chat/*", ({ req }) => fetch(req.raw))
