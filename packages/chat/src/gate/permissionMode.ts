/**
 * The permission mode of a run, when it differs from the mode of its options.
 *
 * Owns: the mode, and the loosest mode that calls may set. Does not own the rules of a mode (`Permissions`).
 *
 * PMODE1. The mode requests of a batch's calls are folded in call order when the batch is over, and apply from the next
 *         batch on.
 * PMODE2. A call may set any stricter mode, and no looser mode than was granted: by the options, by the host since, or
 *         by a person who was asked. Otherwise the request is refused, with the code of the cause: `phase_gated`
 *         without `ask`, `user_denied` when a person refused, `unknown` when there was no valid answer.
 * PMODE3. A mode that the host sets while a batch runs overrides the modes that a person granted its calls.
 * PMODE4. A client may always set a stricter mode. It cannot set a mode looser than its bound. The default bound is the
 *         mode that the host set, which calls and clients do not change.
 * PMODE5. A call whose handler ends with the refusal of PMODE2 is `denied`: no error policy is called, and the hooks of a
 *         refusal are called.
 */
import { ToolError, ValidationError } from "../errors/index.ts"
import { clamp, type Denial, denial, isMode, type Permissions } from "./permissionRules.ts"
import type { ToolCall } from "../model/index.ts"
import { copied } from "../json/index.ts"
import { answered } from "./permissionAnswer.ts"
import { callUser, type UserCall } from "../async/index.ts"
import { type Mode, modes, type ModeStanding } from "../record/index.ts"
import type { Tool } from "../tool/index.ts"

/** The mode that a call requests, and whether a person agreed to it. */
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

  /** The present mode; `undefined` when the mode of the options applies. */
  get standing(): ModeStanding | undefined {
    return this.#standing
  }

  /** Sets the mode for the host. */
  set(mode: Mode): void {
    this.#standing = { mode, loosest: mode }
  }

  /** Sets the mode for a client (PMODE4). When the mode is too loose, returns the bound and changes nothing. */
  setWithin(mode: Mode, within: Mode | "host", permissions: Permissions | undefined): Mode | undefined {
    const before = this.#standing ?? standingOf(permissions)
    const host = hostOf(before)
    const bound = within === "host" ? host : within
    if (!isWithin(mode, bound) && !isWithin(mode, before.mode)) return bound
    this.#standing = standing(mode, mode, host)
    return undefined
  }

  /** Begins a batch and returns its permissions. */
  begin(permissions: Permissions | undefined): Permissions | undefined {
    this.#began = this.#standing
    if (this.#standing === undefined) return permissions
    const { mode, loosest } = this.#standing
    return { ...permissions, mode, loosest }
  }

  /** Folds the requests of a finished batch (PMODE1). Returns the mode if calls changed it. */
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

/** The mode that permissions declare. */
const standingOf = ({ mode = "default", loosest = mode }: Permissions = {}): ModeStanding =>
  standing(mode, loosest, mode)

const standing = (mode: Mode, loosest: Mode, host: Mode): ModeStanding =>
  host === loosest ? { mode, loosest } : { mode, loosest, host }

const hostOf = ({ loosest, host = loosest }: ModeStanding): Mode => host

const isWithin = (mode: Mode, loosest: Mode): boolean => clamp(mode, loosest) === mode

/** The mode; throws a `ValidationError` for any other value. */
export const checkedMode = (mode: unknown): Mode => {
  if (isMode(mode)) return mode
  throw new ValidationError("invalid_options", [
    { field: ["permissions", "mode"], reason: `must_be_one_of ${modes.join(", ")}` }
  ])
}

/** The mode requests of the calls of one batch. It asks the person where required, one question at a time. */
export class ModeRequests {
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

  /** Requests a mode; synchronous when no question is asked. Throws, or rejects, with a `ToolError` (`denied`). */
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

  /** Aborts the pending questions. */
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
    const question = {
      toolCall: copied(toolCall),
      tool,
      mode: present,
      wants: mode,
      context: this.#context,
      messages: []
    }
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
