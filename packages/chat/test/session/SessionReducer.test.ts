import { describe, expect, test } from "vitest"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { Event } from "../../src/events/Event.ts"
import { assistant } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import { SessionReducer } from "../../src/session/SessionReducer.ts"
import { hi } from "../double/scripts.ts"

const begun = () => Session.make({ id: "s", thread: hi })

const response = { outputText: "yo", toolCalls: [], finishReason: "stop", usage: {}, metadata: {} } as const
const thread = { messages: [...hi, assistant("yo")] }
const stepCompleted: Event = { type: "step_completed", response, thread, mode: "auto", manualToolCalls: [] }

describe("a session's reducer", () => {
  test("152 folds a chat or a step, and nothing else", () => {
    expect(() => new SessionReducer(begun(), { mode: "bogus" as never })).toThrow("must_be_one_of chat, step")
  })

  test("RED1 events that are none change nothing", () => {
    const reducer = new SessionReducer(begun(), { mode: "chat" })
    const before = reducer.finalize()
    for (const odd of [null, 5, {}, { type: "odd" }, { type: "step_completed" }]) reducer.apply(odd as never)
    expect(reducer.finalize()).toEqual(before)
  })

  test("RED2 it can be asked at any time, and never changes the session it began with", () => {
    const session = begun()
    const before = structuredClone(session)
    const reducer = new SessionReducer(session, { mode: "step" })
    reducer.apply({ type: "text_delta", id: null, delta: "y" })
    expect([reducer.finalize().session, reducer.collector.text]).toEqual([session, "y"])
    reducer.apply(stepCompleted)
    expect(reducer.finalize()).toEqual(reducer.finalize())
    expect(reducer.finalize().session).toMatchObject({ id: "s", status: "completed", thread })
    expect(session).toEqual(before)
    expect(reducer.session).toBe(session)
  })

  test("RED3 a chat without its end is cancelled, with the steps that finished", () => {
    const reducer = new SessionReducer(begun(), { mode: "chat" })
    reducer.apply(stepCompleted)
    const { session, result } = reducer.finalize()
    expect(session).toMatchObject({ status: "cancelled", thread, lastOutcome: { haltedReason: "cancelled" } })
    expect(result.steps).toHaveLength(1)
  })

  test("RED3 a chat without its end is in error when one was seen", () => {
    const error = new AdapterError("timeout")
    const reducer = new SessionReducer(begun(), { mode: "chat" })
    reducer.apply({ type: "error", error })
    expect(reducer.finalize().session).toMatchObject({ status: "error", thread: { messages: hi } })
    expect(reducer.finalize().session.lastOutcome?.error).toBe(error)
  })

  test("RED3 a step without its end leaves the session as it was", () => {
    const session = begun()
    const reducer = new SessionReducer(session, { mode: "step" })
    reducer.apply({ type: "text_delta", id: null, delta: "y" })
    expect(reducer.finalize().session).toBe(session)
    expect(reducer.finalize().result).toMatchObject({ haltedReason: "cancelled" })
  })

  test("a step's end says its halt and its error", () => {
    const after = (more: Partial<Extract<Event, { readonly type: "step_completed" }>>) => {
      const reducer = new SessionReducer(begun(), { mode: "step" })
      reducer.apply({ ...stepCompleted, ...more })
      return reducer.finalize().session
    }
    expect(after({ halt: { type: "cancelled" } }).status).toBe("cancelled")
    expect(after({ error: new AdapterError("unknown") })).toMatchObject({
      status: "error",
      lastOutcome: { error: { reason: "unknown" } }
    })
  })
})
