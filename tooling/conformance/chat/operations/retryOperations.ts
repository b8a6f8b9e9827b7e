/** The calls on retry policies: each attempt of a case is a request that is refused with the case's error. */
import { Chat, Engine, user } from "@troupe/chat"
import { AdapterError } from "@troupe/chat/errors"
import { type Adapter, Retry } from "@troupe/chat/models"
import { make, matches, type RetryNotice, type RetryPolicy } from "../../../../packages/chat/src/adapter/retryPolicy.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import type { Observations } from "../behaviours.ts"
import { type Operation, type Outcome, settled, valued } from "../outcome.ts"
import { camel, construct, renamed, ScriptedException, snake } from "../values/plain.ts"

/** A policy of a case; an unknown part is passed on and refused. */
export const retryOf = (value: unknown): Retry.RetryOptions | false => {
  if (value === false || value === "no_retry") return false
  return isFields(value) ? renamed(fieldsOf(construct(value)), camel) : {}
}

const policyForm = (policy: RetryPolicy): Fields => renamed({ ...policy }, snake)

/** A case's reason: one of ours, a status, or an unknown word. */
const reasonOf = (said: unknown): AdapterError["reason"] => {
  if (AdapterError.isReason(said)) return said
  if (said === 429) return "rate_limited"
  return typeof said === "number" && said >= 500 ? "provider_unavailable" : "unknown"
}

const errorOf = (said: unknown, retryAfterMs?: number): AdapterError =>
  new AdapterError(reasonOf(said), {
    cause: said,
    retryAfterMs,
    ...(typeof said === "number" ? { status: said } : {})
  })

const final = (cause: unknown): AdapterError => new AdapterError("invalid_request", { cause })

/** An adapter that is refused as the attempts describe; the last one repeats. */
const attempting = (attempts: ReadonlyArray<unknown>) => {
  let made = 0
  const adapter: Adapter.Adapter = {
    name: "attempts",
    stream: async function* () {
      yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
    }
  }
  return {
    attempts: () => made,
    last: () => fieldsOf(attempts[Math.min(made, attempts.length) - 1]),
    adapter: {
      ...adapter,
      stream: (...args: Parameters<Adapter.Adapter["stream"]>) => {
        const { retry, error, raise } = fieldsOf(attempts[Math.min(made++, attempts.length - 1)])
        if (raise !== undefined) throw new ScriptedException("RuntimeError", textOf(raise))
        if (error !== undefined) throw final(construct(error))
        const [delay, reason] = listOf(retry)
        if (retry !== undefined) throw errorOf(construct(reason), Number(delay))
        return adapter.stream(...args)
      }
    }
  }
}

const runOnce = async ({ policy, attempts, metadata }: Fields, { system }: Observations): Promise<Outcome> => {
  const { adapter, ...made } = attempting(listOf(attempts))
  const notices: Array<Fields> = []
  const { failure } = await settled(() =>
    Chat.generate(Engine.make({ adapter }), [user("hi")], {
      system,
      retry: retryOf(policy),
      onRetry: (notice) => notices.push({ ...fieldsOf(metadata), ...noticeForm(notice) })
    })
  )
  const seen = { attempts: made.attempts(), notices }
  if (failure === undefined) return { ...seen, value: { ok: made.last()["ok"] } }
  const { cause } = failure as Error
  return cause instanceof ScriptedException ? { ...seen, failure: cause } : { ...seen, value: { error: cause ?? null } }
}

/** A retry notice with the case's name for its reason. */
export const noticeForm = ({ attempt, delayMs, error, requestId, adapter }: RetryNotice): Fields => ({
  attempt,
  delay_ms: delayMs,
  reason: error.cause ?? error.reason,
  provider: adapter,
  request_id: requestId
})

const run: Operation = async (given, seen) => {
  let outcome: Outcome = {}
  for (let left = Number(given["repeat"] ?? 1); left > 0; left--) outcome = await runOnce(given, seen)
  return outcome
}

/** The calls of this kind, by `when`. */
export const retryOperations: Readonly<Record<string, Operation>> = {
  "retry.default_policy": () => ({ value: policyForm(Retry.defaults) }),
  "retry.materialize": ({ policy }) => valued(() => policyForm(make(retryOf(policy)))),
  "retry.error_matches": ({ error, retry_on: retryOn }) => {
    const said = isFields(error) ? error["reason"] : error
    return { value: matches(errorOf(said), { retryOn: listOf(retryOn) as RetryPolicy["retryOn"] }) }
  },
  "retry.run": run
}
