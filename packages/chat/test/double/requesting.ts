/** Starts a request's chart in a system of the test's own. */
import { type Clock, StateMachine, type System } from "@troupe/otp"
import { adapterStreamMachine } from "../../src/AdapterStreamMachine.ts"
import type { ChatOptions } from "../../src/ChatOptions.ts"
import * as Engine from "../../src/Engine.ts"
import type { Event } from "../../src/Event.ts"
import { Outlet } from "../../src/internal/outlet.ts"
import { adapterIn } from "../../src/internal/preflight.ts"
import { requestOf } from "../../src/internal/request.ts"
import { resolveOptions } from "../../src/internal/resolveOptions.ts"
import { StreamCollector } from "../../src/StreamCollector.ts"
import { hi } from "./scripts.ts"

/** A request whose events are read off its outlet. */
export const startRequest = (
  { system, clock }: { readonly system: System.System; readonly clock: Clock.TestClock },
  parts: Engine.EngineOptions,
  given: ChatOptions
) => {
  const engine = Engine.make(parts)
  const options = resolveOptions(engine, given)
  const outlet = new Outlet()
  const collector = new StreamCollector()
  const request = requestOf({ engine, thread: { messages: hi }, options })
  const pid = StateMachine.start(system, adapterStreamMachine, {
    input: { adapter: adapterIn(engine), request, options, collector, outlet }
  })
  const over = () => StateMachine.snapshot(pid).status !== "active"
  return {
    clock,
    collector,
    outlet,
    pid,
    value: () => StateMachine.snapshot(pid).value,
    output: () => StateMachine.output(pid),
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
