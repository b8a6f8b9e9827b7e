import { StateMachine } from "@troupe/otp"
import { AdapterError, type AdapterErrorReason } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { adapterStreamMachine } from "../../src/request/AdapterStreamMachine.ts"
import type { RunnableRequest } from "../../src/request/requestEnv.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { held } from "../../src/values/held.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import type { Walk } from "./paths.ts"
import { testPaths, testPurity } from "./walking.ts"

const adapter = Fake.make({ script: [] })

const sent = (): RunnableRequest => ({
  adapter,
  request: { messages: [], tools: [] },
  options: resolveOptions(Engine.make({ adapter }), {}),
  collector: new StreamCollector(),
  outlet: new Outlet()
})

const machine = StateMachine.bind(adapterStreamMachine, { request: sent })

const refused = (reason: AdapterErrorReason, delayMs: number | undefined, movesAlong: boolean) => ({
  type: "request.refused",
  error: held(new AdapterError(reason)),
  delayMs,
  movesAlong
})

const walk = (): Walk => ({
  name: "a request with one retry and one fallback",
  machine,
  input: { adapter: adapter.name },
  events: () => [
    { type: "request.opened" },
    { type: "request.exhausted" },
    { type: "request.cancel" },
    { type: "events.taken" },
    refused("timeout", 500, true),
    refused("authentication_failed", undefined, true),
    refused("invalid_request", undefined, false),
    { type: "xstate.after.retry.adapterStream.waiting" }
  ],
  apart: ({ context }) => [context.attempt, context.fallback, context.opened],
  // The policy of retries and the list of fallbacks bound the attempts.
  allows: ({ context: { attempt, fallback = -1 } }, event) => {
    const { delayMs, movesAlong } = event as { readonly delayMs?: number; readonly movesAlong?: boolean }
    return delayMs !== undefined ? attempt < 2 : movesAlong !== true || fallback < 0
  }
})

testPaths(machine, () => [walk()])
testPurity(adapterStreamMachine, () => [walk()])
