import { SessionError } from "@troupe/chat/errors"
import { Clock } from "@troupe/otp"
import { HttpError } from "@troupe/server/HttpError"
import { getEventListeners } from "node:events"
import { describe, expect, it } from "vitest"
import { ClusterReader } from "../../src/chats/ClusterReader.ts"
import type { NodeClient, SentFrame } from "../../src/chats/nodeClient.ts"

const snapshot: SentFrame = { id: "1", data: { type: "snapshot", view: {} } }

/** A reader whose home sends these frames, and the number of listeners that it has on the signal of its caller. */
const readerOf = (
  frames: () => AsyncGenerator<SentFrame, void>,
  isStopped = false,
  options: ConstructorParameters<typeof ClusterReader>[3] = {}
) => {
  const paths: Array<string> = []
  const [caller, node] = [new AbortController(), new AbortController()]
  if (isStopped) node.abort()
  const client: NodeClient = {
    clock: Clock.test(),
    newId: () => "new",
    closed: node.signal,
    bytes: async () => new Uint8Array(),
    ask: () => Promise.reject(new Error("nothing is asked")),
    open: async (path) => {
      paths.push(path)
      return { headers: new Headers(), frames: frames() }
    }
  }
  const reader = new ClusterReader(client, "/chats/c/events", async () => {}, { ...options, signal: caller.signal })
  return { reader, caller, paths, listeners: () => getEventListeners(caller.signal, "abort").length }
}

/** Reads to the end, and returns the reason of a failure. */
const endOf = async (reader: ClusterReader): Promise<unknown> => {
  try {
    for (let item = await reader.next(); item.done !== true; item = await reader.next());
    return "end"
  } catch (error) {
    return error instanceof SessionError ? error.reason : (error as HttpError).code
  }
}

async function* one(): AsyncGenerator<SentFrame, void> {
  yield snapshot
}

async function* failing(): AsyncGenerator<SentFrame, void> {
  yield snapshot
  throw new HttpError("forbidden", "x")
}

describe("CLUSTER6: a reader has no listener on the signal of its caller", () => {
  it.each([
    ["when its chat is stopped", one, false, "end"],
    ["when it is refused", failing, false, "forbidden"],
    ["when its node is stopped", one, true, "end"]
  ] as const)("%s", async (_, frames, isStopped, end) => {
    const { reader, listeners } = readerOf(frames, isStopped)
    expect(listeners()).toBe(1)
    expect(await endOf(reader)).toBe(end)
    expect(listeners()).toBe(0)
  })

  it("when it leaves", async () => {
    const { reader, listeners } = readerOf(one)
    await reader.next()
    expect(listeners()).toBe(1)
    await reader.return()
    expect(listeners()).toBe(0)
  })
})

it("CLREF1: the home of the chat handles a slow reader as its options say", async () => {
  const options = { cursor: "1", whenSlow: "snapshot", maxUnread: 3 } as const
  for (const [given, query] of [
    [options, "?whenSlow=snapshot&maxUnread=3&cursor=1"],
    [{}, ""]
  ] as const) {
    const { reader, paths } = readerOf(one, false, given)
    await endOf(reader)
    expect(paths).toEqual([`/chats/c/events${query}`])
  }
})

it("CLUSTER6: a reader whose signal is aborted ends", async () => {
  const { reader, caller } = readerOf(one)
  caller.abort()
  expect(await endOf(reader)).toBe("end")
})
