import { adapterStreamMachine } from "../../src/request/AdapterStreamMachine.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { requestOf } from "../../src/request/buildRequest.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { hi } from "../double/scripts.ts"
import type { Walk } from "./paths.ts"
import { testPaths } from "./walking.ts"

const check = leakCheck()

const refused = (reason: "timeout" | "invalid_request" | "authentication_failed", opened = false) => ({
  type: "request.refused",
  error: new AdapterError(reason),
  opened
})

const walk = (): Walk => {
  const adapter = check.fake({ script: [] })
  const engine = Engine.make({ adapter, fallbacks: [adapter], retry: { maxAttempts: 2 } })
  const options = resolveOptions(engine, {})
  const request = requestOf({ engine, thread: { messages: hi }, options })
  return {
    name: "a request with one retry and one fallback",
    machine: adapterStreamMachine,
    input: { adapter, request, options, collector: new StreamCollector(), outlet: new Outlet() },
    events: () => [
      { type: "request.opened" },
      { type: "request.exhausted" },
      { type: "request.cancel" },
      { type: "events.taken" },
      refused("timeout"),
      refused("authentication_failed"),
      refused("invalid_request"),
      refused("invalid_request", true),
      { type: "xstate.after.retry.adapterStream.waiting" }
    ],
    apart: ({ context }) => [context.attempt, context.fallback]
  }
}

testPaths(adapterStreamMachine, () => [walk()])
