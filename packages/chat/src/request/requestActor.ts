/** The actor that makes one attempt of a model request. */
import { StateMachine } from "@troupe/otp"
import type { EventObject } from "xstate"
import { boundEnvironment } from "../errors/index.ts"
import { held } from "../values/index.ts"
import { AdapterRequest } from "./adapterRequest.ts"
import { attemptOf, refused } from "./retryAttempts.ts"
import type { RequestEnv, RunnableRequest } from "./requestEnv.ts"
import type { AdapterStreamEvent, AttemptPlace, RequestExhausted } from "./streamContext.ts"

/** The end of a request, with what its owner reads then. */
export const exhausted = ({ read }: RunnableRequest): RequestExhausted =>
  read === undefined ? { type: "request.exhausted" } : { type: "request.exhausted", read: read() }

/**
 * Opens the request of the environment for the attempt at a place, and attaches its stream to the outlet. A stop of the
 * actor releases the request (STREAM1). A restored actor makes its attempt again.
 */
export const request = StateMachine.fromCallback<
  AttemptPlace,
  RequestEnv,
  EventObject,
  Extract<AdapterStreamEvent, { readonly type: "request.opened" | "request.refused" | "request.exhausted" }>
>(({ input: place, env, send }) => {
  const refusal = boundEnvironment(env).compactions?.refusal
  if (refusal !== undefined) {
    send({ type: "request.refused", error: held(refusal), delayMs: undefined, movesAlong: false })
    return undefined
  }
  const sent = env.request()
  const running = new AdapterRequest(sent, {
    opened: () => send({ type: "request.opened" }),
    refused: (error) => send(refused(sent, place, error)),
    exhausted: () => send(exhausted(sent))
  })
  running.open(attemptOf(sent, place))
  return { close: () => running.release() }
})
