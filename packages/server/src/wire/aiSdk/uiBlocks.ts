/** The blocks of text and of reasoning in a UI message stream: each begins, continues and ends under an id of its own. */

/** One chunk. */
export interface UiChunk {
  readonly type: string
  readonly [field: string]: unknown
}

export class UiBlocks {
  #count = 0
  #text: string | undefined
  #hasText = false
  #reasoning: { readonly id: string; readonly of: unknown } | undefined

  /** Whether the step has text. */
  get hasText(): boolean {
    return this.#hasText
  }

  /** Another step begins; open blocks end with the step before it. */
  reset(): void {
    this.#text = undefined
    this.#reasoning = undefined
    this.#hasText = false
  }

  /** Adds text to the open block of text, or begins one; a block of reasoning ends. */
  text(delta: string): ReadonlyArray<UiChunk> {
    const ended = this.endReasoning()
    this.#hasText = true
    if (this.#text !== undefined) return [...ended, { type: "text-delta", id: this.#text, delta }]
    const id = this.#newId("text")
    this.#text = id
    return [...ended, { type: "text-start", id }, { type: "text-delta", id, delta }]
  }

  endText(): ReadonlyArray<UiChunk> {
    const id = this.#text
    this.#text = undefined
    return id === undefined ? [] : [{ type: "text-end", id }]
  }

  /** Adds reasoning to the open block of the same part, or begins one. */
  reasoning(of: unknown, delta: string): ReadonlyArray<UiChunk> {
    if (this.#reasoning?.of === of && this.#reasoning !== undefined) {
      return [{ type: "reasoning-delta", id: this.#reasoning.id, delta }]
    }
    const ended = this.endReasoning()
    const id = this.#newId("reasoning")
    this.#reasoning = { id, of }
    return [...ended, { type: "reasoning-start", id }, { type: "reasoning-delta", id, delta }]
  }

  endReasoning(): ReadonlyArray<UiChunk> {
    const id = this.#reasoning?.id
    this.#reasoning = undefined
    return id === undefined ? [] : [{ type: "reasoning-end", id }]
  }

  /** A block that is complete. */
  whole(kind: "text" | "reasoning", delta: string): ReadonlyArray<UiChunk> {
    const id = this.#newId(kind)
    return [
      { type: `${kind}-start`, id },
      { type: `${kind}-delta`, id, delta },
      { type: `${kind}-end`, id }
    ]
  }

  #newId(kind: string): string {
    return `${kind}-${(this.#count += 1)}`
  }
}
