import { expect, it } from "vitest"
import { MountedServers } from "../../src/gateway/index.ts"

it.each([
  // HOP6: its sender asks again.
  [["nodes"], "421"],
  [["nodes", "/"], "not_found"],
  [["nodes", "/chat"], "/chat"]
])("a request for the server /chat of a node that has made %j", async (mounted, expected) => {
  const servers = new MountedServers()
  for (const name of mounted)
    servers.mount(name, {
      handle: async () => new Response(name),
      isClosed: () => false,
      close: () => Promise.resolve()
    })
  const asked = servers.answer(
    {
      type: "forward",
      server: "/chat",
      url: "http://chats/chat/chats/c",
      headers: [],
      owner: "anna",
      may: { mode: "default", approve: true, observe: false, agents: true, models: true, rewind: true, delete: true },
      via: ["anna/c"],
      streams: true
    },
    { method: "GET", path: "/chats/c", note: "", body: new Uint8Array(), signal: new AbortController().signal }
  )
  const answer = await asked.then(
    (response) => (response.ok ? response.text() : String(response.status)),
    ({ code }: { readonly code: string }) => code
  )
  expect(answer).toBe(expected)
})
