/**
 * What a request of a verb runs, and the filter of its result.
 *
 * VERB2. A result goes to a client through the filter of its row. A row without a filter does not compile, unless its result is open data: it
 *        has no text and no object of a conversation.
 */
import type { LocalChatRef } from "@troupe/chat"
import type * as z from "zod"
import { check } from "../access/index.ts"
import type { Call, Route } from "../http/index.ts"

/** A result that is the same for every client. */
type Open = undefined | void | boolean | number

/** The row of a verb. Without `body` the request has no body that is read. `may` is what the owner must be permitted to do. */
interface Row<Body, Result> {
  readonly body?: z.ZodType<Body>
  readonly may?: Parameters<typeof check>[1]
  readonly run: (call: Call, body: Body) => Promise<Result>
}

/** The filter of a result, which makes the response, or the data of a response in JSON. */
type Filter<Result> = (result: Result, call: Call) => unknown

/** The handler of a verb. An open result is answered with `{ ok: true }`, if it has no filter. */
export function handled<Body = undefined>(row: Row<Body, Open> & { readonly shows?: undefined }): Route["handle"]
export function handled<Result, Body = undefined>(
  row: Row<Body, Result> & { readonly shows: Filter<Result> }
): Route["handle"]
export function handled({
  body,
  may,
  run,
  shows = () => ({ ok: true })
}: Row<unknown, unknown> & { readonly shows?: Filter<unknown> | undefined }): Route["handle"] {
  return async (call) => {
    const given = body && (await call.body(body))
    if (may !== undefined) check(call.may, may)
    const shown = await shows(await run(call, given), call)
    return shown instanceof Response ? shown : Response.json(shown)
  }
}

/** A parameter of the path. */
export const paramOf = ({ params }: Call, name: "id" | "task" | "toolCallId" | "blob" | "memory"): string =>
  params[name] ?? ""

/** The chat of the path. Throws an `HttpError` (404) for an unknown one. */
export const existing = (call: Call): Promise<LocalChatRef> => call.chats.existing(paramOf(call, "id"))

/** Makes the handlers of verbs without a result, of the chat that `open` returns. */
export const verbOf =
  (open: (call: Call) => Promise<LocalChatRef>) =>
  <Body>(body: z.ZodType<Body>, run: (chat: LocalChatRef, body: Body, call: Call) => Open | Promise<Open>) =>
    handled({ body, run: async (call, given) => run(await open(call), given, call) })
