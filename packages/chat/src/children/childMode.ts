/**
 * The permission mode of a child, which is never looser than that of its parent.
 *
 * SUB9. The mode of a child's calls, and every mode that they may set, is within the present mode of its parent. Also a person cannot
 *       agree to a looser one. When the host sets another mode for the parent, its children follow at once. A parent has a mode if it has
 *       `permissions`, or if somebody has set one. Without a mode in any chat above, a child keeps its own.
 */
import { ignoreRejection } from "../async/index.ts"
import type { FamilyChat } from "../family/index.ts"
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

/** A call that runs a child, as its mode follows from it. */
interface BoundRun {
  readonly parent: string
  /** The mode of the parent that the child is within, if it has one. */
  bound: Mode | undefined
}

/** The chats whose modes are bound, and the calls that run children. */
interface ModesHome {
  readonly living: (id: string) => FamilyChat | undefined
  readonly runOf: (child: string) => BoundRun | undefined
  readonly runsOf: (parent: string) => ReadonlyArray<readonly [child: string, run: BoundRun]>
}

/** The modes of the running children (SUB9). */
export class ChildModes {
  readonly #home: ModesHome

  constructor(home: ModesHome) {
    this.#home = home
  }

  /** The present mode of a chat, within those of the chats above; `undefined` if none of them has one. */
  of(id: string): Mode | undefined {
    const chat = this.#home.living(id)
    const mode = chat === undefined ? "plan" : chat.mode
    const run = this.#home.runOf(id)
    const above = run === undefined ? undefined : this.of(run.parent)
    return mode === undefined ? above : clampedTo(mode, above)
  }

  /** The host has set the mode of a chat: its children follow. */
  async set(id: string): Promise<void> {
    const bound = this.of(id)
    await Promise.all(this.#home.runsOf(id).map(([child, run]) => this.#follows(child, run, bound)))
  }

  /** A chat has stored its state: its children in the background follow a mode that its calls, or a handoff, made stricter. */
  stored(id: string): void {
    for (const [child, run] of this.#home.runsOf(id)) {
      const bound = this.of(id)
      const isStricter = bound !== undefined && (run.bound === undefined || clamp(run.bound, bound) !== run.bound)
      if (isStricter) ignoreRejection(this.#follows(child, run, bound))
    }
  }

  async #follows(child: string, run: BoundRun, bound: Mode | undefined): Promise<void> {
    run.bound = bound
    const chat = this.#home.living(child)
    if (bound !== undefined) await chat?.setPermissionMode(clamp(chat.mode ?? "default", bound))
  }
}
