/** A page with the AI SDK's own client, `useChat` without React. */
import type { Server } from "@troupe/server"
import { AbstractChat, DefaultChatTransport, type UIMessage } from "ai"

/** The client of a page. */
export class Page extends AbstractChat<UIMessage> {
  /** It sends to the server's handler without a socket. */
  constructor(server: Server.Server, id: string) {
    const messages: Array<UIMessage> = []
    super({
      id,
      transport: new DefaultChatTransport({
        api: "http://localhost/api/chat",
        fetch: (url, init) => server.fetch(new Request(url as string, init))
      }),
      state: {
        status: "ready",
        error: undefined,
        messages,
        pushMessage: (message) => void messages.push(message),
        popMessage: () => void messages.pop(),
        replaceMessage: (index, message) => void (messages[index] = message),
        snapshot: (value) => structuredClone(value)
      }
    })
  }
}

/** The text of a message of the page. */
export const pageText = (message: UIMessage | undefined): string =>
  message?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? ""
