/** What the types know of the kind of a process. */

declare const kind: unique symbol

/**
 * Of a pid whose process is known to be of a kind: it is not taken where one of another kind is wanted.
 *
 * A pid that is known as no more than a `Pid` says no kind, and is taken anywhere.
 */
export interface OfKind<out K extends string> {
  readonly [kind]?: K
}
