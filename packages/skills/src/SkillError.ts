/**
 * Faults of skills.
 *
 * @module
 */

/**
 * Why skills cannot be used.
 *
 * - `not_found`: there is no such folder or package, or it contains no skill
 * - `invalid_skill`: a `SKILL.md` does not have the form of agentskills.io, or two skills have one name
 */
export type SkillErrorReason = "not_found" | "invalid_skill"

/** Skills cannot be loaded. The message names the file and what to write instead. */
export class SkillError extends Error {
  readonly _tag = "SkillError"
  /** What is wrong. */
  readonly reason: SkillErrorReason
  /** The folder, the package, or the address of the file. */
  readonly source: string

  constructor(reason: SkillErrorReason, source: string, detail: string, cause?: unknown) {
    super(`${source}: ${detail}`, cause === undefined ? undefined : { cause })
    this.name = this._tag
    this.reason = reason
    this.source = source
  }
}
