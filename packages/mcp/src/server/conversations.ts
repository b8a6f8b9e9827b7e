/**
 * The conversations of a caller as resources.
 *
 * MCPV1. A caller lists and reads only conversations of its owner.
 */
import { type McpServer, ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server"
import { Message } from "@troupe/chat/messages"
import * as DateTime from "effect/DateTime"
import { ownedId, type Serving } from "./served.ts"

const scheme = "troupe://conversations/"

/** How many conversations are listed, the last written first. */
const mostListed = 100

const isOwnId = (id: string): boolean => /^[^\p{Cc}]{1,256}$/u.test(id) && !id.includes("/~/") && id.isWellFormed()

/** Adds the resources to the server of a caller. */
export const addConversations = (server: McpServer, { troupe, options, caller }: Serving): void => {
  const idOf = (conversation: string): string => (options.chatId ?? ownedId)(caller.owner, conversation)
  const prefix = idOf("")
  const list = async () => {
    const { chats } = await troupe.list({ prefix, limit: mostListed })
    const resources = chats.map(({ id, title, updatedAt }) => ({
      uri: `${scheme}${encodeURIComponent(id.slice(prefix.length))}`,
      name: title === "" ? id.slice(prefix.length) : title,
      mimeType: "application/json",
      annotations: { lastModified: DateTime.formatIso(DateTime.makeUnsafe(updatedAt)) }
    }))
    return { resources }
  }
  const template = new ResourceTemplate(`${scheme}{id}`, { list })
  const about = {
    description: "A conversation: its messages, each with its role and text",
    mimeType: "application/json"
  }
  server.registerResource("conversation", template, about, async (uri, { id }) => {
    const conversation = decodeURIComponent(String(id))
    const inner = idOf(conversation)
    if (!isOwnId(conversation) || !(await troupe.has(inner))) throw new ResourceNotFoundError(uri.href)
    const { messages } = (await troupe.chat(inner)).thread
    const shown = messages.map((message) => ({ role: message.role, text: Message.text(message) }))
    return { contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify(shown) }] }
  })
}
