/**
 * What an owner may do, as `authorize` says.
 *
 * MAY1. A client does nothing that its owner may not: by no route, in no protocol. A refused request changes nothing.
 * MAY2. A client may always be stricter than the host: it refuses calls, and sets stricter modes, unasked.
 */
import { type Approval, Permissions } from "@troupe/chat"
import * as z from "zod"
import { HttpError } from "../errors/HttpError.ts"
import type { May } from "../server/Server.ts"

/** What an owner may do, with the defaults. Without a mode it is the one that the host set. */
export interface Permitted {
  readonly mode: Permissions.Mode | undefined
  readonly approve: boolean
  readonly observe: boolean
  readonly rewind: boolean
  readonly delete: boolean
}

const Given = z.strictObject({
  mode: Permissions.Mode.optional(),
  approve: z.boolean().default(false),
  observe: z.boolean().default(false),
  rewind: z.boolean().default(true),
  delete: z.boolean().default(true)
})

/** Throws a `TypeError` for what `authorize` cannot mean: nothing that merely looks true permits anything. */
export const permittedOf = (may: May = {}): Permitted => {
  const { success, data, error } = Given.safeParse(may)
  if (success) return { ...data, mode: data.mode }
  const found = error.issues.map(({ path, message }) => `${["may", ...path].join(".")}: ${message}`).join("; ")
  throw new TypeError(
    `authorize returned what no owner may do: ${found}; give may: { mode, approve, observe, rewind, delete }`
  )
}

const actions = {
  approve: "approve tool calls or run them again",
  observe: "observe this server",
  rewind: "rewind or fork conversations",
  delete: "delete conversations"
} as const

/** Throws an `HttpError` (403) for what the owner may not do. */
export const check = (may: Permitted, action: keyof typeof actions): void => {
  if (may[action]) return
  throw new HttpError(
    "forbidden",
    `You may not ${actions[action]}; the server's \`authorize\` permits it with may: { ${action}: true }`
  )
}

/** Throws an `HttpError` (403) for a decision that the owner may not make (MAY2). */
export const checkDecision = (may: Permitted, { type }: Approval.Decision): void => {
  if (type === "allow" || type === "result") check(may, "approve")
}
