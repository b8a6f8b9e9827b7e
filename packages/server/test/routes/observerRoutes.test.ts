import { Fake, type RunningTroupe, tool, Troupe } from "@troupe/chat"
import type { Observation } from "@troupe/chat/observe"
import { Clock, System } from "@troupe/otp"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import * as Server from "../../src/server/Server.ts"

let clock: Clock.TestClock
let system: System.System
let troupe: RunningTroupe
let server: Server.Server

const hang = tool({ name: "hang", execute: () => new Promise(() => {}) })

beforeEach(async () => {
  clock = Clock.test()
  system = System.make({ clock })
  const script: Fake.Script = [{ toolCall: { id: "t1", name: "hang", arguments: {} } }, { finish: "tool_calls" }]
  troupe = await Troupe.start({ adapter: Fake.make({ script }), tools: [hang], system, drainMs: 10 })
  server = Server.make({
    troupe,
    authorize: (request) => {
      const owner = request.headers.get("authorization") ?? "nobody"
      return { owner, may: { observe: owner === "anna" } }
    }
  })
})

afterEach(async () => {
  await server.close()
  const stopped = troupe.stop()
  await clock.advance(10)
  await stopped
  await System.stop(system)
})

const ask = (method: string, path: string, as = "anna", signal?: AbortSignal): Promise<Response> =>
  server.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { authorization: as, "content-type": "application/json" },
      ...(method === "POST" ? { body: "{}" } : {}),
      ...(signal === undefined ? {} : { signal })
    })
  )

const say = (id: string, as = "anna"): Promise<Response> =>
  server.fetch(
    new Request(`http://localhost/chats/${id}/messages`, {
      method: "POST",
      headers: { authorization: as, "content-type": "application/json" },
      body: JSON.stringify({ input: "go" })
    })
  )

/** The states of a stream, one for each read. */
const statesOf = (response: Response) => {
  const reader = (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>()).getReader()
  return {
    next: async <A>(): Promise<A> => {
      const { value } = await reader.read()
      return JSON.parse(new TextDecoder().decode(value).slice("data: ".length)) as A
    },
    leave: () => reader.cancel()
  }
}

const all = (nodes: ReadonlyArray<Observation.ProcessNode>): ReadonlyArray<Observation.ProcessNode> =>
  nodes.flatMap((node) => [node, ...all(node.children)])

describe("the observer", () => {
  test("OBSERVE3 is nobody's but theirs whom `authorize` names observers", async () => {
    await say("c1", "bob")
    const [chat] = all(await firstTree()).filter(({ label }) => label.startsWith("Chat "))
    const paths = ["GET /observer/tree", `GET /observer/processes/${chat?.id}`, "GET /observer/timeline/c1"]
    for (const path of [...paths, `POST /observer/processes/${chat?.id}/kill`]) {
      const [method = "", where = ""] = path.split(" ")
      const response = await ask(method, where, "bob")
      expect([path, response.status]).toEqual([path, 403])
      expect(await response.json()).toMatchObject({ error: { code: "forbidden" } })
    }
    expect(all(await firstTree()).some(({ id }) => id === chat?.id)).toBe(true)
  })

  test.each([
    ['{ "observe": "false" }', 500],
    ['{ "observe": 1 }', 500],
    ["{}", 403]
  ])("OBSERVE3 is not theirs of whom it is said otherwise, as a claim may: %s", async (claim, status) => {
    const claims = { owner: "anna", observer: true, may: JSON.parse(claim) as Server.May }
    const { fetch } = Server.make({ troupe, authorize: () => claims })
    expect((await fetch(new Request("http://localhost/observer/tree"))).status).toBe(status)
  })

  test("OBSERVE5 of one machine has no nodes: its paths and its frames are those without a cluster", async () => {
    await say("c1")
    const refused = await ask("GET", "/observer/nodes")
    const unknown = await ask("GET", "/observer/nothing")
    expect([refused.status, await refused.text()]).toEqual([404, await unknown.text()])
    const states = statesOf(await ask("GET", "/observer/tree?node=10.0.0.7:7700"))
    expect(Object.keys(await states.next<Observation.Observed>())).not.toContain("node")
    await states.leave()
  })

  test("OBSERVE4 shows the processes of all owners' chats, the caller's own by their own ids", async () => {
    await say("c1", "anna")
    await say("c1", "bob")
    const chats = all(await firstTree()).flatMap(({ label, chat }) => (label.startsWith("Chat ") ? [chat] : []))
    expect(chats).toEqual(["c1", "bob/c1"])
  })

  test("OBSERVE4 names no two chats alike, whatever the caller calls its own", async () => {
    await say("c1", "bob")
    await say("own", "anna")
    await Promise.all(["anna/bob/c1", "own"].map((id) => troupe.chat(id)))
    const names = all(await firstTree()).flatMap(({ label, chat }) => (label.startsWith("Chat ") ? [chat] : []))
    expect(new Set(names)).toEqual(new Set(["anna/bob/c1", "anna/own", "bob/c1", "own"]))
    const turnsOf = async (name: string) => {
      const states = statesOf(await ask("GET", `/observer/timeline/${encodeURIComponent(name)}`))
      const { spans } = await states.next<Observation.Timeline>()
      await states.leave()
      return spans.filter(({ kind }) => kind === "turn").length
    }
    expect([await turnsOf("bob/c1"), await turnsOf("anna/bob/c1")]).toEqual([1, 0])
    expect([await turnsOf("anna/own"), await turnsOf("own")]).toEqual([1, 0])
  })

  test("sends the newest state when it changed, and skips what a slow reader did not take", async () => {
    const states = statesOf(await ask("GET", "/observer/tree"))
    const before = await states.next<Observation.Observed>()
    for (const id of ["a", "b", "c"]) {
      await troupe.chat(id)
      await clock.advance(200)
    }
    const after = await states.next<Observation.Observed>()
    expect(after.processes).toBe(before.processes + 3)
    await states.leave()
  })

  test("kills a process, which its supervisor starts again", async () => {
    await say("c1")
    const chatOf = async () => all(await firstTree()).find(({ label }) => label === "Chat anna/c1")?.id
    const before = await chatOf()
    const response = await ask("POST", `/observer/processes/${before}/kill`)
    expect([response.status, await response.json()]).toEqual([200, { ok: true }])
    await troupe.chat("anna/c1")
    const after = await chatOf()
    expect([after === undefined, after === before]).toEqual([false, false])
    const malformed = await ask("POST", "/observer/processes/c1/kill")
    expect([malformed.status, await malformed.json()]).toMatchObject([422, { error: { code: "invalid_input" } }])
    for (const gone of [before, "<0.9999.0>"]) {
      const refused = await ask("POST", `/observer/processes/${encodeURIComponent(gone ?? "")}/kill`)
      expect([refused.status, await refused.json()]).toMatchObject([404, { error: { code: "not_found" } }])
    }
  })

  test("shows one process, by its pid, and says what is not there", async () => {
    await say("c1")
    const pid = all(await firstTree()).find(({ label }) => label === "Chat anna/c1")?.id
    const states = statesOf(await ask("GET", `/observer/processes/${encodeURIComponent(pid ?? "")}`))
    expect(await states.next()).toMatchObject({ id: pid, alive: true, chat: "c1", chart: { machine: "chat" } })
    await states.leave()
    for (const path of ["<0.9999.0>", "x", "..%2f", "%00"]) {
      const response = await ask("GET", `/observer/processes/${path}`)
      expect([path, response.status]).toEqual([path, 404])
    }
  })

  test("OBSERVE4 follows the timeline of the caller's chat, and of others' by the Troupe's id", async () => {
    await say("c1")
    await say("c2", "bob")
    for (const [path, chat] of [
      ["c1", "c1"],
      ["bob%2Fc2", "bob/c2"]
    ]) {
      const states = statesOf(await ask("GET", `/observer/timeline/${path}`))
      let seen = await states.next<Observation.Timeline>()
      while (seen.spans.length < 2) {
        const next = states.next<Observation.Timeline>()
        await clock.advance(200)
        seen = await next
      }
      expect([seen.chat, seen.spans.map(({ kind }) => kind)]).toEqual([chat, ["turn", "call"]])
      await states.leave()
    }
  })

  test("OBSERVE1 a stream whose client is gone is watched no more", async () => {
    await say("c1")
    const pid = all(await firstTree()).find(({ label }) => label === "Chat anna/c1")?.id ?? ""
    const client = new AbortController()
    const path = `/observer/processes/${encodeURIComponent(pid)}`
    const states = statesOf(await ask("GET", path, "anna", client.signal))
    await states.next()
    expect(isWatched()).toBe(true)
    client.abort()
    await new Promise((resolve) => void setImmediate(resolve))
    expect(isWatched()).toBe(false)
  })
})

/** Whether this system's telemetry has subscribers. */
const isWatched = (): boolean => {
  const kernel: { readonly observer?: unknown } = system as unknown as { readonly observer?: unknown }
  return kernel.observer !== undefined
}

const firstTree = async (): Promise<ReadonlyArray<Observation.ProcessNode>> => {
  const states = statesOf(await ask("GET", "/observer/tree"))
  const { tree } = await states.next<Observation.Observed>()
  await states.leave()
  return tree
}
