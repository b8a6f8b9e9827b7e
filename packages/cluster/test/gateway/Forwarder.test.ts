import { Clock } from "@troupe/otp"
import { expect, it } from "vitest"
import { Forwarder } from "../../src/gateway/Forwarder.ts"

const forwarderOf = (mounted: ReadonlyArray<string>): Forwarder => {
  const forwarder = new Forwarder({
    placement: { address: "here:1", homeOf: async () => "here:1", forget: () => {} },
    client: { request: () => Promise.reject(new Error("this node is the home")) },
    clock: Clock.live,
    isHome: () => true,
    nodes: { has: async () => true },
    deadlineMs: 1_000
  })
  for (const name of mounted) {
    forwarder.mount(name, {
      handle: async () => new Response(name),
      isClosed: () => false,
      close: () => Promise.resolve()
    })
  }
  return forwarder
}

it.each([
  [["nodes"], "moved"],
  [["nodes", "/"], "not_found"],
  [["nodes", "/chat"], "/chat"]
])("a request for the server /chat of a node that has made %j", async (mounted, expected) => {
  const asked = forwarderOf(mounted).answer(
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
    (response) => response.text(),
    ({ code }: { readonly code: string }) => code
  )
  expect(answer).toBe(expected)
})

it("HOP3: after `close` a home is not looked up again", async () => {
  const forgotten = Promise.withResolvers<void>()
  const forwarder = new Forwarder({
    placement: {
      address: "here:1",
      homeOf: async () => undefined,
      forget: () => forgotten.resolve()
    },
    client: { request: () => Promise.reject(new Error("no home was found")) },
    clock: Clock.live,
    isHome: () => false,
    nodes: { has: async () => false },
    deadlineMs: 600_000
  })
  const looking = forwarder.toHome("c", { mayRepeat: true }, () => Promise.reject(new Error("no home was found")))
  const end = looking.then(
    () => "answered",
    ({ code }: { readonly code: string }) => code
  )
  await forgotten.promise
  await forwarder.close()
  expect(await end).toBe("moved")
})
