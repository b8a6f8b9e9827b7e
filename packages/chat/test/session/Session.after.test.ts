import { describe, expect, test } from "vitest"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { Event } from "../../src/events/Event.ts"
import { assistant, toolResult } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { hi } from "../double/scripts.ts"

const begun = () => Session.make({ id: "s", thread: hi })

const response = { outputText: "yo", toolCalls: [], finishReason: "stop", usage: {}, metadata: {} } as const
const thread = { messages: [...hi, assistant("yo")] }
const stepCompleted: Event = { type: "step_completed", response, thread, mode: "auto", manualToolCalls: [] }

const read = (...events: ReadonlyArray<Event>): StreamCollector => {
  const collector = new StreamCollector(begun().thread)
  for (const event of events) collector.apply(event)
  return collector
}

describe("the session after events from another place", () => {
  test("152 is that of a chat or of a step, and of nothing else", () => {
    expect(() => Session.after(begun(), "bogus" as never, read())).toThrow("must_be_one_of chat, step")
  })

  test("does not change for events that are none", () => {
    const collector = read()
    const before = Session.after(begun(), "chat", collector)
    for (const odd of [null, 5, {}, { type: "odd" }, { type: "step_completed" }]) collector.apply(odd as never)
    expect(Session.after(begun(), "chat", collector)).toEqual(before)
  })

  test("can be asked for at any time, and never changes the session it begins with", () => {
    const session = begun()
    const before = structuredClone(session)
    const collector = read({ type: "text_delta", id: null, delta: "y" })
    expect([Session.after(session, "step", collector).session, collector.text]).toEqual([session, "y"])
    collector.apply(stepCompleted)
    expect(Session.after(session, "step", collector)).toEqual(Session.after(session, "step", collector))
    expect(Session.after(session, "step", collector).session).toMatchObject({ id: "s", status: "completed", thread })
    expect(session).toEqual(before)
  })

  test("is cancelled after a chat without its end, with the steps that finished", () => {
    const { session, result } = Session.after(begun(), "chat", read(stepCompleted))
    expect(session).toMatchObject({ status: "cancelled", thread, lastOutcome: { haltedReason: "cancelled" } })
    expect(result.steps).toHaveLength(1)
  })

  test("is in error after a chat without its end when an error was seen", () => {
    const error = new AdapterError("timeout")
    const { session } = Session.after(begun(), "chat", read({ type: "error", error }))
    expect(session).toMatchObject({ status: "error", thread: { messages: hi } })
    expect(session.lastOutcome?.error).toBe(error)
  })

  test("is the same after a step without its end", () => {
    const session = begun()
    const after = Session.after(session, "step", read({ type: "text_delta", id: null, delta: "y" }))
    expect(after.session).toBe(session)
    expect(after.result).toMatchObject({ haltedReason: "cancelled" })
  })

  test("has the halt and the error of a step", () => {
    const after = (more: Partial<Extract<Event, { readonly type: "step_completed" }>>) =>
      Session.after(begun(), "step", read({ ...stepCompleted, ...more })).session
    expect(after({ halt: { type: "cancelled" } }).status).toBe("cancelled")
    expect(after({ error: new AdapterError("unknown") })).toMatchObject({
      status: "error",
      lastOutcome: { error: { reason: "unknown" } }
    })
  })

  test("can be decided about: its approvals are those of the result", () => {
    const called = { id: "c0", name: "pay", arguments: {} }
    const messages = [...hi, assistant("", [called, { ...called, id: "c1" }]), toolResult("c1", "r")]
    const approval = { toolCall: called, kind: "permission", reason: "asked", askedAt: 1, expiresAt: 9 } as const
    const { session } = Session.after(
      begun(),
      "step",
      read({ ...stepCompleted, thread: { messages }, pendingApprovals: [approval] })
    )
    expect(session).toMatchObject({
      status: "awaiting_approval",
      expiresAt: 9,
      open: { at: 1, calls: [{ state: "waiting", kind: "permission", expiresAt: 9 }, { state: "done" }] }
    })
  })
})
