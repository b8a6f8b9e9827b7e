/** Express: `toNode` makes a handler of Node's HTTP. */
import { toNode } from "@troupe/server/Node"
import express from "express"
import { chats } from "./chats.ts"

const { fetch } = await chats("/chat")

export const app = express()
app.all("/chat/{*path}", toNode(fetch))
