/** An abort controller that costs nothing until somebody asks for its signal. */
export class LazyAbort {
  #controller: AbortController | undefined
  #aborted = false

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
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
