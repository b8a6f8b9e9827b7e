/** The kind of a process, in the type of its pid. */

declare const kind: unique symbol

/**
 * The part of a pid's type that says its kind. A pid of one kind is not assignable to a pid of another kind.
 *
 * A plain `Pid` has no kind and is assignable to a pid of any kind.
 */
export interface OfKind<out K extends string> {
  readonly [kind]?: K
}
