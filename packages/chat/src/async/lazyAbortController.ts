import type { System } from "@troupe/otp"
import { guarded } from "./guardedSignal.ts"

/** An abort controller that creates its (guarded) signal on first use. */
export class LazyAbortController {
  readonly #system: System.System | undefined
  #controller: AbortController | undefined
  #aborted = false

  constructor(system: System.System | undefined) {
    this.#system = system
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      guarded(this.#controller.signal, this.#system)
      if (this.#aborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#controller?.abort()
  }
}
