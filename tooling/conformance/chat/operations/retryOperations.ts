/** The calls on retry policies: each attempt of a case is a request that is refused with the case's error. */
import { Chat, Engine, Fake, user } from "@troupe/chat"
import { AdapterError } from "@troupe/chat/errors"
import { Retry } from "@troupe/chat/models"
import { make, matches, type RetryNotice, type RetryPolicy } from "../../../../packages/chat/src/adapter/retryPolicy.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/json.ts"
import type { Observations } from "../behaviours.ts"
import { type Operation, type Outcome, settled, valued } from "../outcome.ts"
import { camel, construct, renamed, ScriptedException, snake } from "../values/plain.ts"

/** A policy of a case; an unknown part is passed on and refused. */
export const retryOf = (value: unknown): Retry.RetryOptions | false => {
  if (value === false || value === "no_retry") return false
  return isFields(value) ? renamed(fieldsOf(construct(value)), camel) : {}
}

/** A case's reason: one of ours, a status, or an unknown word. */
const reasonOf = (said: unknown): AdapterError["reason"] => {
  if (AdapterError.isReason(said)) return said
  if (said === 429) return "rate_limited"
  return typeof said === "number" && said >= 500 ? "provider_unavailable" : "unknown"
}

const errorOf = (cause: unknown, retryAfterMs?: number): AdapterError =>
  new AdapterError(reasonOf(cause), { cause, retryAfterMs, ...(typeof cause === "number" ? { status: cause } : {}) })

/** The script of an attempt, which may refuse it. */
const scriptOf = ({ retry, error, raise }: Fields): Fake.Script => {
  if (raise !== undefined) throw new ScriptedException("RuntimeError", textOf(raise))
  if (error !== undefined) throw new AdapterError("invalid_request", { cause: construct(error) })
  const [delay, reason] = listOf(retry)
  if (retry !== undefined) throw errorOf(construct(reason), Number(delay))
  return [{ finish: "stop" }]
}

/** Makes one request; the last attempt repeats. */
const runOnce = async ({ policy, attempts, metadata }: Fields, { system }: Observations): Promise<Outcome> => {
  const attempt = (made: number) => fieldsOf(listOf(attempts)[Math.min(made, listOf(attempts).length) - 1])
  const adapter = Fake.make({ respond: (_, made) => scriptOf(attempt(made + 1)) })
  const notices: Array<Fields> = []
  const { failure } = await settled(() =>
    Chat.generate(Engine.make({ adapter: { name: "attempts", stream: adapter.stream } }), [user("hi")], {
      system,
      retry: retryOf(policy),
      onRetry: (notice) => notices.push({ ...fieldsOf(metadata), ...noticeForm(notice) })
    })
  )
  const made = adapter.requests.length
  const seen = { attempts: made, notices }
  if (failure === undefined) return { ...seen, value: { ok: attempt(made)["ok"] } }
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
  "retry.default_policy": () => ({ value: renamed({ ...Retry.defaults }, snake) }),
  "retry.materialize": ({ policy }) => valued(() => renamed({ ...make(retryOf(policy)) }, snake)),
  "retry.error_matches": ({ error, retry_on: retryOn }) => {
    const said = isFields(error) ? error["reason"] : error
    return { value: matches(errorOf(said), { retryOn: listOf(retryOn) as RetryPolicy["retryOn"] }) }
  },
  "retry.run": run
}
