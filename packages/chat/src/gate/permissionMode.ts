/**
 * The permission mode of a run, where it is another than its options say.
 *
 * Owns: the mode, and how loose calls may make it themselves. Does not own what a mode lets through (`Permissions`).
 *
 * PMODE1. What the calls of a batch want is folded in call order when the batch is over, and counts from the next batch on.
 * PMODE2. A call makes a run as strict as it likes, and no looser than was granted: by the options, by the host since, or by
 *         a person who was asked. Else it is refused, with the code of the cause: `phase_gated` where nobody can be asked,
 *         `user_denied` where a person refused, `unknown` where there was no answer that can be read.
 * PMODE3. What the host says while a batch runs counts for more than what its calls were granted before.
 * PMODE4. A client may always set a stricter mode. It sets no mode looser than its bound, by default the mode that the host
 *         set, which calls and clients leave as it is.
 * PMODE5. A call whose handler ends with the refusal of PMODE2 is `denied`; no policy is asked, and the hooks of a refusal are
 *         called.
 */
import { ToolError, ValidationError } from "../errors/index.ts"
import { clamp, type Denial, denial, isMode, type Permissions } from "./Permissions.ts"
import type { ToolCall } from "../model/index.ts"
import { copied } from "../json/index.ts"
import { answered } from "./gate.ts"
import { callUser, type UserCall } from "../async/index.ts"
import { type Mode, modes, type ModeStanding } from "../record/index.ts"
import type { Tool } from "../tool/index.ts"

/** What a call wants, and whether a person agreed to it. */
export interface ModeWish {
  readonly mode: Mode
  readonly agreed: boolean
}

/** The mode of a chat, over its turns. */
export class PermissionMode {
  #standing: ModeStanding | undefined
  #began: ModeStanding | undefined

  constructor(standing?: ModeStanding) {
    this.#standing = standing
  }

  /** `undefined` where the options say it. */
  get standing(): ModeStanding | undefined {
    return this.#standing
  }

  /** The host's word. */
  set(mode: Mode): void {
    this.#standing = { mode, loosest: mode }
  }

  /** A client's word (PMODE4). Returns the bound if it refuses the mode, and changes nothing then. */
  setWithin(mode: Mode, within: Mode | "host", permissions: Permissions | undefined): Mode | undefined {
    const before = this.#standing ?? standingOf(permissions)
    const host = hostOf(before)
    const bound = within === "host" ? host : within
    if (!isWithin(mode, bound) && !isWithin(mode, before.mode)) return bound
    this.#standing = standing(mode, mode, host)
    return undefined
  }

  /** The permissions of a batch that begins. */
  begin(permissions: Permissions | undefined): Permissions | undefined {
    this.#began = this.#standing
    if (this.#standing === undefined) return permissions
    const { mode, loosest } = this.#standing
    return { ...permissions, mode, loosest }
  }

  /** A batch is over (PMODE1). Gives the mode if calls changed it. */
  fold(
    outcomes: ReadonlyArray<{ readonly wish?: ModeWish | undefined }>,
    permissions: Permissions | undefined
  ): Mode | undefined {
    const trusted = this.#began === this.#standing
    let changed: ModeStanding | undefined
    for (const { wish } of outcomes) {
      if (wish === undefined) continue
      const before: ModeStanding = changed ?? this.#standing ?? standingOf(permissions)
      const { mode } = wish
      if (isWithin(mode, before.loosest)) changed = standing(mode, before.loosest, hostOf(before))
      else if (wish.agreed && trusted) changed = standing(mode, mode, hostOf(before))
    }
    if (changed !== undefined) this.#standing = changed
    return changed?.mode
  }
}

/** What permissions say of themselves. */
const standingOf = ({ mode = "default", loosest = mode }: Permissions = {}): ModeStanding =>
  standing(mode, loosest, mode)

const standing = (mode: Mode, loosest: Mode, host: Mode): ModeStanding =>
  host === loosest ? { mode, loosest } : { mode, loosest, host }

const hostOf = ({ loosest, host = loosest }: ModeStanding): Mode => host

const isWithin = (mode: Mode, loosest: Mode): boolean => clamp(mode, loosest) === mode

/** Throws a `ValidationError` for what is no mode. */
export const checkedMode = (mode: unknown): Mode => {
  if (isMode(mode)) return mode
  throw new ValidationError("invalid_options", [
    { field: ["permissions", "mode"], reason: `must_be_one_of ${modes.join(", ")}` }
  ])
}

/** Hears what the calls of one batch want, and asks where that must be: one question at a time. */
export class ModeWishes {
  readonly #permissions: Permissions
  readonly #context: Readonly<Record<string, unknown>>
  readonly #system: UserCall["system"]
  readonly #leaving = new AbortController()
  #asked: Promise<unknown> = Promise.resolve()

  constructor(
    { permissions = {}, context = {} }: { readonly permissions?: Permissions | undefined; readonly context?: object },
    system: UserCall["system"]
  ) {
    this.#permissions = permissions
    this.#context = { ...context }
    this.#system = system
  }

  /** At once where nobody is asked. Throws, or rejects, with a `ToolError` (`denied`). */
  request(mode: Mode, toolCall: ToolCall, tool: Tool | undefined, signal: AbortSignal): ModeWish | Promise<ModeWish> {
    const { ask } = this.#permissions
    const { loosest } = standingOf(this.#permissions)
    if (isWithin(mode, loosest)) return { mode, agreed: false }
    if (ask === undefined) {
      const reason = `nobody can be asked, and ${loosest} is as loose as it may be`
      throw refused(toolCall, mode, denial("phase_gated", reason))
    }
    const answer = this.#asked.then(() => this.#ask(mode, toolCall, tool, signal, ask))
    this.#asked = answer.catch(() => undefined)
    return answer
  }

  /** Nobody waits for an answer any more. */
  leave(): void {
    this.#leaving.abort()
  }

  async #ask(
    mode: Mode,
    toolCall: ToolCall,
    tool: Tool | undefined,
    ended: AbortSignal,
    ask: NonNullable<Permissions["ask"]>
  ): Promise<ModeWish> {
    const { mode: present } = standingOf(this.#permissions)
    const question = { toolCall: copied(toolCall), tool, mode: present, wants: mode, context: this.#context }
    const signal = AbortSignal.any([ended, this.#leaving.signal])
    const userAnswer = await callUser((asking) => ask({ ...question, signal: asking }), {
      signal,
      system: this.#system
    })
    if (userAnswer.type === "aborted")
      throw refused(toolCall, mode, denial("unknown", "the call ended before an answer came"))
    const verdict = answered(toolCall, userAnswer, this.#permissions, `set the permission mode to ${mode}`)
    switch (verdict.type) {
      case "allow":
        return { mode, agreed: true }
      case "deny":
        throw refused(toolCall, mode, verdict.denial)
      case "halt":
        throw refused(toolCall, mode, denial("user_denied", verdict.reason))
      case "suspend":
        throw refused(toolCall, mode, denial("user_denied", "it was not allowed"))
    }
  }
}

const refused = ({ id, name }: ToolCall, mode: Mode, { reason, code, metadata }: Denial): ToolError =>
  new ToolError("denied", {
    message: `${name} may not set the permission mode to ${mode}: ${reason}`,
    toolName: name,
    toolCallId: id,
    metadata: { ...metadata, code, mode }
  })
