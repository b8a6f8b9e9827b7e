/** A page with the AI SDK's own client: `useChat` without React. */
import type { Server } from "@troupe/server"
import { AbstractChat, DefaultChatTransport, type UIMessage } from "ai"

/** The client of a page; it sends to the server's handler without a socket. */
export class Page extends AbstractChat<UIMessage> {
  constructor(server: Server.Server, id: string) {
    const messages: Array<UIMessage> = []
    const fetch = (url: unknown, init?: RequestInit): Promise<Response> => server.fetch(new Request(String(url), init))
    super({
      id,
      transport: new DefaultChatTransport({ api: "http://localhost/api/chat", fetch }),
      state: {
        status: "ready",
        error: undefined,
        messages,
        pushMessage: (message) => void messages.push(message),
        popMessage: () => void messages.pop(),
        replaceMessage: (index, message) => void (messages[index] = message),
        snapshot: structuredClone
      }
    })
  }
}
