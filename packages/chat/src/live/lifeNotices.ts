import { has, type Hooks } from "../gate/index.ts"
import { type ChatContext, notifyStopped } from "../loop/index.ts"
import type { RunOptions } from "../options/index.ts"

/** Whether the hooks `SessionStart` and `SessionEnd` of a chat were called: each once, however many processes the chat has. */
export class LifeNotices {
  readonly #hooks: () => Hooks | undefined
  /** Whether a turn was started. */
  #began = false
  #hooksBegan = false

  constructor(hooks: () => Hooks | undefined) {
    this.#hooks = hooks
  }

  /** Whether `SessionEnd` is still to be called. */
  get needsEnd(): boolean {
    return this.#began && has(this.#hooks(), "SessionEnd")
  }

  turnStarted(): void {
    this.#began = true
  }

  /** A new process takes the place of the one with this context. */
  attached(context: ChatContext | undefined): void {
    this.#hooksBegan ||= context?.notified.started === true
  }

  /** Calls `SessionEnd`. */
  async end(options: RunOptions, context: ChatContext): Promise<void> {
    if (!this.needsEnd) return
    this.attached(context)
    if (this.#hooksBegan || !has(this.#hooks(), "SessionStart")) await notifyStopped(options, context)
  }
}
