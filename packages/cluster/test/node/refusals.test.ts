import { ValidationError } from "@troupe/chat/errors"
import { HttpError } from "@troupe/server/HttpError"
import { describe, expect, it } from "vitest"
import type { ClusterChatRef } from "../../src/chats/index.ts"
import { passingFor } from "../../src/chats/nodeClient.ts"
import { nodes, type TestNode } from "../double/clusterNodes.ts"

const started = async () => {
  const { troupe } = await nodes().node()
  return { troupe, chat: await troupe.chat("c") }
}

/** The fields that were refused. */
const refusedFields = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ValidationError)) return error
    return error.errors.map(({ field }) => field.join("."))
  }
}

const ofChat: ReadonlyArray<readonly [string, string, (chat: ClusterChatRef) => unknown]> = [
  ["send without an input", "role", (chat) => chat.send(null as never)],
  ["send without content", "content", (chat) => chat.send("")],
  ["options of send", "", (chat) => chat.send("x", null as never)],
  ["a model", "model", (chat) => chat.send("x", { model: 5 as never })],
  ["an id", "id", (chat) => chat.send("x", { id: 5 as never })],
  ["an id of half a pair", "id", (chat) => chat.send("x", { id: "\ud800" })],
  ["whenBusy", "whenBusy", (chat) => chat.send("x", { whenBusy: "zz" as never })],
  ["an unknown option", "modl", (chat) => chat.send("x", { modl: "y" } as never)],
  ["a decision", "decision.type", (chat) => chat.approve("p1", { type: "allw" } as never)],
  ["no decision", "decision", (chat) => chat.approve("p1", null as never)],
  ["a call of dots", "toolCallId", (chat) => chat.cancelToolCall("..")],
  ["a call of half a pair", "toolCallId", (chat) => chat.cancelToolCall("\ud800")],
  ["no call", "toolCallId", (chat) => chat.restartToolCall("")],
  ["results", "", (chat) => chat.submitToolResults(undefined as never)],
  ["a cursor", "cursor", (chat) => chat.attach({ cursor: "zz" })],
  ["options of attach", "", (chat) => chat.attach(null as never)],
  ["a mode", "permissions.mode", (chat) => chat.setPermissionMode("zz" as never)],
  ["an agent", "agent", (chat) => chat.handoff(5 as never)]
]

const ofTroupe: ReadonlyArray<readonly [string, string, (troupe: TestNode["troupe"]) => unknown]> = [
  ["an unknown option", "agnt", (troupe) => troupe.chat("d", { agnt: "x" } as never)],
  ["options of chat", "", (troupe) => troupe.chat("d", null as never)],
  ["an id of chat", "id", (troupe) => troupe.chat(5 as never)],
  ["an id of one dot", "id", (troupe) => troupe.chat(".")],
  ["an id of two dots", "id", (troupe) => troupe.chat("..")],
  ["an id of half a pair", "id", (troupe) => troupe.chat("\ud800")],
  ["options of fork", "", (troupe) => troupe.fork("c", null as never)],
  ["an option of begin", "agnt", (troupe) => troupe.begin([], { agnt: "x" } as never)],
  ["an option of rewind", "cancl", (troupe) => troupe.rewind("c", 0, { cancl: true } as never)],
  ["an id of delete", "id", (troupe) => troupe.delete("..")]
]

describe("an argument that a chat of the cluster refuses", () => {
  it.each(ofChat)("CLREF1: %s", async (_, field, ask) => {
    const { chat } = await started()
    expect(await refusedFields(() => ask(chat))).toEqual([field])
    expect((await chat.view()).messages).toEqual([])
  })

  it.each(ofTroupe)("CLTROUPE1: %s", async (_, field, ask) => {
    const { troupe } = await started()
    expect(await refusedFields(() => ask(troupe))).toEqual([field])
  })

  it("CLREF1: only the named errors are tried again, and those that a home did not expect a few times only", () => {
    const isPassing = passingFor({ closed: new AbortController().signal })
    const errors = [new TypeError("x"), new ValidationError("invalid_options", []), new HttpError("home_silent", "x")]
    expect(errors.map(isPassing)).toEqual([false, false, true])
    const tries = Array.from({ length: 20 }, () => isPassing(new HttpError("internal", "x")))
    expect(tries.lastIndexOf(true)).toBe(9)
    const closed = passingFor({ closed: AbortSignal.abort() })
    expect(closed(new HttpError("home_silent", "x"))).toBe(false)
  })

  it("CLREF1: ids that look encoded lead to their own chats", async () => {
    const { troupe } = await started()
    for (const id of ["%2e%2e", "a/../b", "...", "?#"]) {
      const chat = await troupe.chat(id)
      await chat.send(id).result()
      expect((await chat.view()).messages[0]?.content).toBe(id)
    }
  })
})
