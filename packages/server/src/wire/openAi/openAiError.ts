/**
 * Errors in OpenAI's form.
 *
 * OPENAI4. An unknown path or method below `/v1`, an unknown conversation, and a parameter of a response or a conversation that
 *          OpenAI does not document are refused in OpenAI's form. Completions ignore parameters that they do not know.
 */
import { AdapterError, SessionError } from "@troupe/chat/errors"
import type { ChatResult } from "@troupe/chat/chats"
import { type HttpError, statusOf } from "../../errors/index.ts"
import { refusalOf, retryAfter } from "../../http/index.ts"
import { errorText } from "../index.ts"

/** An error in OpenAI's form, and its status. */
export interface OpenAiError {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
  }
}

const typeOf = (status: number): string => {
  if (status === 401) return "authentication_error"
  if (status === 403) return "permission_error"
  if (status === 429) return "rate_limit_error"
  return status < 500 ? "invalid_request_error" : "server_error"
}

const made = (status: number, code: string, message: string, param: string | null = null): OpenAiError => ({
  status,
  error: { message, type: typeOf(status), param, code }
})

/** A refusal of this server. */
export const ofRefusal = (refusal: HttpError): OpenAiError => {
  const { code, message, issues = [] } = refusal
  const status = statusOf(code)
  const [first] = issues
  const param = first === undefined ? null : first.field.join(".")
  // OpenAI reports an invalid body as a bad request.
  const said = first === undefined ? message : `${message}: ${param} ${first.reason}`
  return {
    ...made(status === 422 ? 400 : status, code, said, param),
    headers: { ...refusal.headers, ...retryAfter(refusal) }
  }
}

/** Maps the failure of a model request to a status. The client can do nothing about keys and the like. */
const adapterStatus: Readonly<Partial<Record<string, number>>> = {
  rate_limited: 429,
  invalid_request: 400,
  context_length_exceeded: 400,
  content_filter: 400,
  unsupported_feature: 400,
  timeout: 504
}

/** Maps the failure of a run; `undefined` for an unexpected error. */
export const ofFailure = (error: unknown): OpenAiError | undefined => {
  if (error instanceof AdapterError) return made(adapterStatus[error.reason] ?? 502, error.reason, errorText(error))
  const refusal = refusalOf(error)
  if (refusal !== undefined) return ofRefusal(refusal)
  return error instanceof SessionError ? made(500, error.reason, errorText(error)) : undefined
}

/** A run with a halt reason that OpenAI's protocol cannot express. */
const ofEnd = (haltedReason: string): OpenAiError =>
  haltedReason === "awaiting_approval"
    ? made(409, "awaiting_approval", "A tool call waits for a decision, which this protocol cannot give")
    : made(
        haltedReason === "cancelled" ? 409 : 500,
        haltedReason,
        `The run ended: ${haltedReason.replaceAll("_", " ")}`
      )

/** An unexpected error, without details for the client. */
export const unexpected: OpenAiError = made(500, "error", "The run failed")

/** The error of a run whose end OpenAI's protocols cannot express. */
export const ofResult = ({ haltedReason, metadata }: Pick<ChatResult, "haltedReason" | "metadata">): OpenAiError =>
  haltedReason === "error" ? (ofFailure(metadata["error"]) ?? unexpected) : ofEnd(haltedReason)

/** The response of an error. */
export const responseOf = ({ status, headers, error }: OpenAiError): Response =>
  Response.json({ error }, { status, ...(headers === undefined ? {} : { headers }) })
