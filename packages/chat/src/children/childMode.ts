/**
 * The permission mode of a child, which is never looser than that of its parent.
 *
 * SUB9. The mode of a child's calls, and every mode that they may set, is within the present mode of its parent. Also a person cannot
 *       agree to a looser one. When the host sets another mode for the parent, its children follow at once.
 */
import { clamp, type Permissions } from "../gate/index.ts"
import type { Mode, ModeStanding } from "../record/index.ts"

const isWithin = (mode: Mode, bound: Mode): boolean => clamp(mode, bound) === mode

/** The permissions of a child under a parent whose mode is `bound()`. */
export const permissionsWithin = (permissions: Permissions | undefined, bound: () => Mode): Permissions => {
  const now = bound()
  const { mode = "default", loosest = mode, ask } = permissions ?? {}
  return {
    ...permissions,
    mode: clamp(mode, now),
    loosest: clamp(loosest, now),
    ...(ask === undefined
      ? {}
      : {
          ask: (question) =>
            question.wants === undefined || isWithin(question.wants, bound()) ? ask(question) : "deny"
        })
  }
}

/** Whether a mode that was set for a child is looser than its parent's. */
export const isLooser = (standing: ModeStanding | undefined, bound: Mode): boolean =>
  standing !== undefined && !(isWithin(standing.mode, bound) && isWithin(standing.loosest, bound))
