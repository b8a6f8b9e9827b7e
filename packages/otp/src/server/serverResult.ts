/** The result of a server callback, as the server loop reads it. */
import type { Timeout } from "../core/index.ts"

/** The action of a server before its next message. */
export type Next = { readonly continue: unknown } | { readonly timeout: Timeout } | "hibernate" | undefined

export type ResultKind = "ok" | "ignore" | "reply" | "noreply" | "stop" | "stopReply"

/** One shape for all results, distinguished by `kind`. */
export class ServerResult<K extends ResultKind = ResultKind, V = unknown> {
  readonly kind: K
  readonly state: unknown
  readonly value: V
  readonly reason: unknown
  readonly next: Next

  constructor(kind: K, state: unknown, value: V, reason: unknown, next: Next) {
    this.kind = kind
    this.state = state
    this.value = value
    this.reason = reason
    this.next = next
  }
}
