/** Deno: `deno run --allow-all src/deno.ts`. */
import { chats } from "./chats.ts"

declare const Deno: {
  readonly serve: (
    options: { readonly port: number; readonly onListen: (at: { readonly port: number }) => void },
    handler: (request: Request) => Promise<Response>
  ) => unknown
}

const { fetch } = await chats("/chat")
Deno.serve({ port: 0, onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`) }, fetch)
