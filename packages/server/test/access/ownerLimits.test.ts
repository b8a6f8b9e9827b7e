import { Clock, System } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { Owners } from "../../src/access/ownerLimits.ts"
import { codeOf, endless, reading, served, until } from "../double/served.ts"

const events = { accept: "text/event-stream" }

describe("OWNER1 an owner", () => {
  test("with too many requests in a minute gets the time of its next attempt, and others are not delayed", async () => {
    const clock = Clock.test()
    const { ask } = await served({ system: System.make({ clock }) }, { limits: { requestsPerMinute: 2 } })
    const get = (authorization = "anna") => ask("GET", "/chats/c1", undefined, { authorization })
    expect([(await get()).status, (await get()).status]).toEqual([404, 404])
    const refused = await get()
    expect(refused.headers.get("retry-after")).toBe("30")
    expect(await codeOf(refused)).toBe("429 rate_limited")
    expect((await get("ben")).status).toBe(404)
    await clock.advance(30_000)
    expect((await get()).status).toBe(404)
    expect(await codeOf(await get())).toBe("429 rate_limited")
  })

  test("with too many streams is refused before anything is said, until one is over", async () => {
    const adapter = endless()
    const { ask } = await served({ adapter }, { limits: { streams: 1 } })
    const stream = reading(await ask("POST", "/chats/c1/messages", { input: "Tell" }, events))
    await stream.until("upon")
    const refused = await ask("POST", "/chats/c2/messages", { input: "Tell" }, events)
    expect(await codeOf(refused)).toBe("429 too_many_streams")
    expect(await codeOf(await ask("GET", "/chats/c1/events"))).toBe("429 too_many_streams")
    expect(adapter.requests).toHaveLength(1)
    await stream.leave()
    const next = reading(await ask("GET", "/chats/c1/events"))
    await next.until("snapshot")
    await next.leave()
  })

  test("gets a stream back that was claimed for a message which was refused", async () => {
    const { ask } = await served({ adapter: endless() }, { limits: { streams: 2 } })
    const stream = reading(await ask("POST", "/chats/c1/messages", { input: "Tell" }, events))
    await stream.until("upon")
    const busy = { input: "No", whenBusy: "reject" }
    for (let times = 0; times < 3; times++) {
      expect(await codeOf(await ask("POST", "/chats/c1/messages", busy, events))).toBe("409 busy")
    }
    await stream.leave()
  })

  test("with too many living conversations can begin no other, until one has ended, also if they begin at once", async () => {
    const { ask, troupe } = await served({}, { limits: { conversations: 2 } })
    const begun = await Promise.all(
      ["c1", "c2", "c3"].map((id) => ask("POST", `/chats/${id}/messages?wait`, { input: "Hello" }))
    )
    expect(begun.map(({ status }) => status)).toEqual([200, 200, 429])
    expect((await ask("POST", "/chats/c2/messages?wait", { input: "Hello" })).status).toBe(200)
    await (await troupe.chat("anna/c1")).stop()
    expect((await ask("POST", "/chats/c3/messages?wait", { input: "Hello" })).status).toBe(200)
  })
})

test("OWNER2 conversations that have ended are forgotten, however many an owner may have", async () => {
  const living = new Set<string>()
  const limits = {
    conversations: 1_000_000,
    requestsPerMinute: 1,
    streams: 1,
    answerBytes: 1,
    waiting: 1,
    waitingBytes: 1
  }
  const owners = new Owners(
    limits,
    () => 0,
    (id) => living.has(id)
  )
  const owner = owners.request("anna")
  const begun = async (id: string): Promise<void> => {
    living.add(id)
    await owners.chat(owner, id, () => Promise.reject(new Error("none"))).catch(() => {})
  }
  for (let count = 0; count < 10; count++) await begun(`stays${count}`)
  for (let count = 0; count < 5_000; count++) {
    await begun(`c${count}`)
    living.delete(`c${count}`)
  }
  expect(owner.chats.size).toBeLessThan(2_000)
  expect([...owner.chats.keys()].slice(0, 10)).toEqual([...living])
})

test("FRAME2 a client that goes releases its stream, and the turn goes on", async () => {
  const adapter = endless()
  const { server, troupe } = await served({ adapter }, { limits: { streams: 1 } })
  const gone = new AbortController()
  const request = () =>
    new Request("http://localhost/chats/c1/messages", {
      method: "POST",
      headers: { authorization: "anna", "content-type": "application/json", ...events },
      body: '{"input":"Tell"}',
      signal: gone.signal
    })
  const stream = reading(await server.fetch(request()))
  await stream.until("upon")
  gone.abort()
  await stream.rest()
  const chat = await troupe.chat("anna/c1")
  expect([adapter.open, chat.getSnapshot()?.context.phase]).toEqual([1, "streaming"])
  const again = new Request("http://localhost/chats/c1/events", { headers: { authorization: "anna" } })
  const next = reading(await server.fetch(again))
  await next.until("snapshot")
  await next.leave()
  await chat.cancel()
  await until(() => adapter.open === 0)
})
