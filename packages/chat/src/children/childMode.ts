/**
 * The permission mode of a child, which is never looser than that of its parent.
 *
 * SUB9. The mode of a child's calls, and every mode that they may set, is within the present mode of its parent. Also a person cannot
 *       agree to a looser one. When the host sets another mode for the parent, its children follow at once. A parent has a mode if it has
 *       `permissions`, or if somebody has set one. Without a mode in any chat above, a child keeps its own.
 */
import { clamp, type Permissions } from "../gate/index.ts"
import type { Mode, ModeStanding } from "../record/index.ts"

const isWithin = (mode: Mode, bound: Mode): boolean => clamp(mode, bound) === mode

/** The mode within a bound, if there is one. */
export const clampedTo = (mode: Mode, bound: Mode | undefined): Mode =>
  bound === undefined ? mode : clamp(mode, bound)

/** The permissions of a child under a parent whose mode is `bound()`. */
export const permissionsWithin = (
  permissions: Permissions | undefined,
  bound: () => Mode | undefined
): Permissions | undefined => {
  const now = bound()
  const { mode = "default", loosest = mode, ask } = permissions ?? {}
  if (now === undefined && permissions === undefined) return undefined
  return {
    ...permissions,
    mode: clampedTo(mode, now),
    loosest: clampedTo(loosest, now),
    ...(ask === undefined
      ? {}
      : {
          ask: (question) =>
            question.wants === undefined || clampedTo(question.wants, bound()) === question.wants
              ? ask(question)
              : "deny"
        })
  }
}

/** Whether a mode that was set for a child is looser than its parent's. */
export const isLooser = (standing: ModeStanding | undefined, bound: Mode | undefined): boolean =>
  standing !== undefined &&
  bound !== undefined &&
  !(isWithin(standing.mode, bound) && isWithin(standing.loosest, bound))
