/**
 * What a package does with a feature of a request: sends it through the real package, and compares what arrives.
 *
 * @module
 */
import { AdapterError } from "@troupe/chat/errors"
import { Adapter, type Request } from "@troupe/chat/models"
import { aiSdk } from "@troupe/providers/AiSdk"
import { closing } from "../wire/closing.ts"
import { bodyOf } from "../wire/dialects.ts"
import { type Feature, plain, requestFor } from "./features.ts"
import { requestOptions } from "./scriptedModel.ts"
import { type Column, packages, type ProviderPackage } from "./packages.ts"

/**
 * What a package does with a feature.
 *
 * - `sent`: the provider gets it
 * - `adapted`: the provider gets it in another form, and `metadata.warnings` of the response says so
 * - `warned`: it is not sent, and `metadata.warnings` of the response names it
 * - `refused`: the request fails before it is sent, with an error that names it
 * - `always`: the package asks for it in every request
 * - `none`: the provider has no such feature
 * - `dropped`: it is not sent, and nothing says so
 */
export type Verdict = "sent" | "adapted" | "warned" | "refused" | "always" | "none" | "dropped"

/** What arrived at the provider, and what the response says about it. */
interface Arrived {
  readonly sent: string
  readonly warnings: ReadonlyArray<string>
}

/** The verdict of one cell. */
export const verdictOf = async (feature: Feature, column: Column): Promise<Verdict> => {
  const request = requestFor(feature, column)
  if (request === undefined) return "none"
  const { [column]: found } = packages
  const before = await arrived(found, { ...plain, ...feature.base })
  const after = await arrived(found, request)
  if (before instanceof AdapterError) throw before
  if (after instanceof AdapterError) return "refused"
  const isSent = after.sent !== before.sent && feature.mark.test(after.sent)
  if (isSent) return isNewIn(after, before) ? "adapted" : "sent"
  if (feature.always?.includes(column) === true) return "always"
  return isNewIn(after, await arrived(found, plain)) ? "warned" : "dropped"
}

/** Whether a response has a warning that another has not. */
const isNewIn = ({ warnings }: Arrived, before: Arrived | AdapterError): boolean =>
  warnings.some((warning) => before instanceof AdapterError || !before.warnings.includes(warning))

const arrived = async (found: ProviderPackage, request: Request): Promise<Arrived | AdapterError> => {
  let sent = ""
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const own = new Headers(init?.headers)
    sent = `["${own.get("x-own")}"] ${typeof init?.body === "string" ? init.body : ""}`
    return new Response(bodyOf(found.dialect, closing[found.dialect]), {
      headers: { "content-type": "text/event-stream" }
    })
  }
  const adapter = aiSdk(found.model({ fetch }))
  let warnings: ReadonlyArray<string> = []
  try {
    for await (const event of Adapter.eventsOf(await adapter.stream(request, requestOptions))) {
      if (event.type === "error") throw event.error
      const said = event.type === "message_completed" ? event.metadata?.["warnings"] : undefined
      if (Array.isArray(said)) warnings = said.map((warning) => JSON.stringify(warning))
    }
  } catch (error) {
    if (error instanceof AdapterError && sent === "") return error
    throw error
  }
  return { sent, warnings }
}
