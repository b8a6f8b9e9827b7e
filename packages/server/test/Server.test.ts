import { type Adapter, Fake, Troupe, type TroupeOptions } from "@troupe/chat"
import { afterEach, describe, expect, test } from "vitest"
import * as Server from "../src/Server.ts"
import type { ServerOptions } from "../src/Server.ts"

const cleanups: Array<() => Promise<void>> = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const adapter = (): Adapter.Adapter => Fake.make({ script: [{ text: "Hi " }, { text: "there" }, { finish: "stop" }] })

const serve = async (options: Partial<ServerOptions> = {}, troupeOptions: Partial<TroupeOptions> = {}) => {
  const troupe = await Troupe.start({ adapter: adapter(), ...troupeOptions })
  const server = Server.make({
    troupe,
    authorize: (request) => {
      const owner = request.headers.get("authorization")
      return owner === null ? { deny: 401 } : { owner }
    },
    ...options
  })
  cleanups.push(async () => {
    await server.close()
    await troupe.stop()
  })
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    server.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          authorization: "anna",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
    )
  return { troupe, server, ask }
}

const codeOf = async (response: Response): Promise<unknown> => {
  const { error } = (await response.json()) as { readonly error: { readonly code: string } }
  return `${response.status} ${error.code}`
}

const dataOf = (text: string): ReadonlyArray<{ readonly type: string; readonly [key: string]: unknown }> =>
  text
    .split("\n\n")
    .flatMap((frame) => frame.split("\n"))
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as { readonly type: string })

describe("a message", () => {
  test("is answered with its receipt, and is in the conversation then", async () => {
    const { ask } = await serve()
    const response = await ask("POST", "/chats/c1/messages", { input: "Hello", id: "m1" })
    expect([response.status, await response.json()]).toEqual([202, { id: "m1", status: "delivered" }])
    const view = (await (await ask("GET", "/chats/c1")).json()) as { readonly messages: ReadonlyArray<unknown> }
    expect(view.messages[0]).toEqual({ role: "user", content: "Hello" })
  })

  test("is answered with the turn's events where the client takes those", async () => {
    const { ask } = await serve()
    const response = await ask("POST", "/chats/c1/messages", { input: "Hello" }, { accept: "text/event-stream" })
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    const events = dataOf(await response.text())
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["message_started", "text_delta", "chat_completed"])
    )
    expect(events.at(-1)?.type).toBe("chat_completed")
  })

  test("is answered with its turn's result where the client waits", async () => {
    const { ask } = await serve()
    const response = await ask("POST", "/chats/c1/messages?wait", { input: "Hello" })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: "delivered", result: { haltedReason: "completed" } })
  })
})

describe("a path", () => {
  test("that leads nowhere is a 404, one of another method a 405 that says which", async () => {
    const { ask } = await serve()
    expect(await codeOf(await ask("GET", "/nothing"))).toBe("404 not_found")
    const response = await ask("DELETE", "/chats/c1/messages")
    expect(response.headers.get("allow")).toBe("POST")
    expect(await codeOf(response)).toBe("405 method_not_allowed")
  })
})

test("SERVE2. nobody is let in whom authorize does not name", async () => {
  const { server } = await serve()
  const response = await server.fetch(new Request("http://localhost/chats/c1"))
  expect(await codeOf(response)).toBe("401 unauthorized")
})

test("SERVE1. a conversation is there for its owner, and for nobody else", async () => {
  const { ask } = await serve()
  await ask("POST", "/chats/c1/messages?wait", { input: "Hello" })
  expect((await ask("GET", "/chats/c1")).status).toBe(200)
  expect(await codeOf(await ask("GET", "/chats/c1", undefined, { authorization: "ben" }))).toBe("404 unknown_chat")
})
