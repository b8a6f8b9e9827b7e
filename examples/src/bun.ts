/** Bun: `bun src/bun.ts`. Bun closes a connection after ten quiet seconds, so `idleTimeout` is off. */
import { chats } from "./chats.ts"

declare const Bun: {
  readonly serve: (options: {
    readonly port: number
    readonly idleTimeout: number
    readonly fetch: (request: Request) => Promise<Response>
  }) => { readonly port: number }
}

const { fetch } = await chats("/chat")
const { port } = Bun.serve({ port: 0, idleTimeout: 0, fetch })
console.log(`http://127.0.0.1:${port}`)
