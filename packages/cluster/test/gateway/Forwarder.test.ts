import { Clock } from "@troupe/otp"
import { describe, expect, it } from "vitest"
import { Forwarder, MountedServers } from "../../src/gateway/index.ts"
import { ClusterError } from "../../src/placement/index.ts"

const servers = new MountedServers()

const mount = (mounted: MountedServers, name: string): void =>
  mounted.mount(name, {
    handle: async () => new Response(name),
    isClosed: () => false,
    close: () => Promise.resolve()
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
    servers,
    deadlineMs: 600_000
  })
  const looking = forwarder.toHome("c", { mayRepeat: true }, () => Promise.reject(new Error("no home was found")))
  const end = looking.then(
    () => "answered",
    ({ code }: { readonly code: string }) => code
  )
  await forgotten.promise
  forwarder.close()
  expect(await end).toBe("moved")
})

const forwardedBy = {
  server: "/chat",
  url: "http://chats/chat/chats/c",
  headers: [],
  owner: "anna",
  may: { mode: "default", approve: true, observe: false, agents: true, models: true, rewind: true, delete: true },
  via: ["anna/c"],
  streams: true
} as const

it("HOP1: a request that has begun its turn is sent again when its home gives no answer", async () => {
  const asked: Array<string> = []
  const forwarder = new Forwarder({
    placement: { address: "own", homeOf: async () => (asked.length % 2 === 0 ? "first" : "next"), forget: () => {} },
    client: {
      request: async (to) => {
        asked.push(to)
        if (to === "first") throw new ClusterError("silent", "no answer")
        return new Response("whole")
      }
    },
    clock: Clock.live,
    isHome: () => false,
    nodes: { has: async () => false },
    servers,
    deadlineMs: 600_000
  })
  const { signal } = new AbortController()
  const request = { ...forwardedBy, method: "POST", body: undefined, signal, closing: signal }
  expect(await (await forwarder.forward({ ...request, begun: "turn" })).text()).toBe("whole")
  await expect(forwarder.forward(request)).rejects.toMatchObject({ code: "home_silent" })
  expect(asked).toEqual(["first", "next", "first"])
})

it("HOP7: only a request that may not be sent again waits longer for a home that shows no life", async () => {
  const waited: Array<number | undefined> = []
  const forwarder = new Forwarder({
    placement: { address: "own", homeOf: async () => "home", forget: () => {} },
    client: {
      request: async (_, { headMs }) => {
        waited.push(headMs)
        return new Response("late")
      }
    },
    clock: Clock.live,
    isHome: () => false,
    nodes: { has: async () => true },
    servers,
    deadlineMs: 7_000
  })
  const { signal } = new AbortController()
  const request = { ...forwardedBy, method: "POST", body: undefined, signal, closing: signal }
  for (const more of [{}, { begun: "turn" }, { method: "GET" }, { node: "home" }])
    await forwarder.forward({ ...request, ...more })
  expect(waited).toEqual([7_000, undefined, undefined, undefined])
})

describe("HOP6: a request whose home has not made its server yet", () => {
  const forwarded = (signal = new AbortController().signal) =>
    ({ ...forwardedBy, method: "GET", body: undefined, signal, closing: signal }) as const
  const codeOf = (asked: Promise<Response>): Promise<string> =>
    asked.then(
      (response) => response.text(),
      ({ code }: { readonly code: string }) => code
    )

  /** Forwards a request on the home, whose program has made no server yet. */
  const forward = (clock: Clock.Clock) => {
    const mounted = new MountedServers()
    mount(mounted, "nodes")
    const forwarder = new Forwarder({
      placement: { address: "here:1", homeOf: async () => "here:1", forget: () => {} },
      client: { request: () => Promise.reject(new Error("this node is the home")) },
      clock,
      isHome: () => true,
      nodes: { has: async () => true },
      servers: mounted,
      deadlineMs: 1_000
    })
    return { mounted, answer: codeOf(forwarder.forward(forwarded())) }
  }

  it("is answered when the server is made", async () => {
    const time = Clock.test()
    const { mounted, answer } = forward(time)
    await time.advance(500)
    mount(mounted, "/chat")
    await time.advance(250)
    expect(await answer).toBe("/chat")
  })

  it("is refused with `moved` when the server is not made in time", async () => {
    const time = Clock.test()
    const { answer } = forward(time)
    await time.advance(1_000)
    expect(await answer).toBe("moved")
  })
})
