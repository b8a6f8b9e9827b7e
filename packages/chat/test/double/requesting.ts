/** Starts a request's chart in a system of the test's own. */
import { type Clock, StateMachine, type System } from "@troupe/otp"
import { adapterStreamMachine } from "../../src/request/AdapterStreamMachine.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { EngineOptions } from "../../src/options/engineOptions.ts"
import type { Event } from "../../src/events/Event.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { adapterIn } from "../../src/request/buildRequest.ts"
import { requestOf } from "../../src/request/buildRequest.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import type { RunnableRequest } from "../../src/request/requestEnv.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { original } from "../../src/values/held.ts"
import { hi } from "./scripts.ts"

/** A request whose events are read off its outlet. */
export const startRequest = (
  { system, clock }: { readonly system: System.System; readonly clock: Clock.TestClock },
  parts: EngineOptions,
  given: ChatOptions
) => {
  const engine = Engine.make(parts)
  const options = resolveOptions(engine, given)
  const outlet = new Outlet()
  const collector = new StreamCollector()
  const request = requestOf({ engine, thread: { messages: hi }, options })
  const sent: RunnableRequest = { adapter: adapterIn(engine), request, options, collector, outlet }
  const pid = StateMachine.start(system, adapterStreamMachine, { env: { request: () => sent } })
  const over = () => StateMachine.snapshot(pid).status !== "active"
  return {
    clock,
    collector,
    outlet,
    pid,
    value: () => StateMachine.snapshot(pid).value,
    /** How the request ended, with the error itself. */
    output: () => {
      const ended = StateMachine.output(pid)
      return ended?.type === "refused" ? { ...ended, error: original(ended.error) } : ended
    },
    /** Reads to the end of the request. */
    read: async (): Promise<ReadonlyArray<Event>> => {
      const events: Array<Event> = []
      outlet.drive((event) => events.push(event))
      while (!over()) await clock.advance(0)
      outlet.close()
      return events
    }
  }
}
