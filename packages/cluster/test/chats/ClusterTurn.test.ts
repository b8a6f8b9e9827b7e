import { SessionError } from "@troupe/chat/errors"
import { Clock } from "@troupe/otp"
import { HttpError } from "@troupe/server/HttpError"
import { describe, expect, it } from "vitest"
import { ClusterTurn } from "../../src/chats/ClusterTurn.ts"
import type { NodeClient } from "../../src/chats/nodeClient.ts"

/** A turn whose first request fails, and the number of its requests. The second one is refused for good. */
const turnAfter = (first: Error, id: string | undefined) => {
  const clock = Clock.test()
  const seen = { requests: 0 }
  const client: NodeClient = {
    clock,
    newId: () => "new",
    closed: new AbortController().signal,
    bytes: async () => new Uint8Array(),
    ask: () => Promise.reject(new Error("nothing is asked")),
    open: async () => {
      seen.requests += 1
      throw seen.requests === 1 ? first : new SessionError("busy", "A turn runs")
    }
  }
  const turn = new ClusterTurn({
    client,
    path: "/chats/c/retry",
    body: {},
    id,
    schema: undefined,
    view: () => Promise.reject(new Error("nothing is asked")),
    entries: async () => [],
    resumedMs: 0,
    before: Promise.resolve()
  })
  return { turn, seen, clock }
}

const unanswered = ["home_silent", "internal"] as const

describe("CLTURN1: a turn without an input of its own", () => {
  it.each(unanswered)("is not requested again after `%s`: its home may have begun it", async (code) => {
    const { turn, seen, clock } = turnAfter(new HttpError(code, "x"), undefined)
    await expect(clock.run(turn.result())).rejects.toMatchObject({ reason: "moved", cause: { code } })
    expect(seen.requests).toBe(1)
  })

  it("is requested again when no home has processed it", async () => {
    const { turn, seen, clock } = turnAfter(new SessionError("moved", "x"), undefined)
    await expect(clock.run(turn.result())).rejects.toMatchObject({ reason: "busy" })
    expect(seen.requests).toBe(2)
  })
})

it.each(unanswered)("CLUSTER7: an input is sent again under its id after `%s`", async (code) => {
  const { turn, seen, clock } = turnAfter(new HttpError(code, "x"), "m1")
  await expect(clock.run(turn.result())).rejects.toMatchObject({ reason: "busy" })
  expect(seen.requests).toBe(2)
})
