/**
 * The blocks of text and of reasoning in a UI message stream: each begins, continues and ends under an id of its own.
 *
 * Owns: the open blocks, and the kinds of parts that the step has begun, in their order.
 */

export interface UiChunk {
  readonly type: string
  readonly [field: string]: unknown
}

/** A block: its id for the client, and the id of the model's block. */
interface Block {
  readonly id: string
  of: unknown
}

/** The model's block, when its beginning was missed: the next fragment continues it. */
const anyBlock = Symbol("any block")

export class UiBlocks {
  #count = 0
  #text: Block | undefined
  #hasText = false
  #reasoning: Block | undefined
  #begun: Array<string> = []

  /** Whether the step has text. */
  get hasText(): boolean {
    return this.#hasText
  }

  /** Another step begins; open blocks end with the step before it. */
  reset(): void {
    this.#text = undefined
    this.#reasoning = undefined
    this.#hasText = false
    this.#begun = []
  }

  /** What the step has begun, in order: `text`, `reasoning`, and the names of other parts. */
  get begun(): ReadonlyArray<string> {
    return this.#begun
  }

  /** Another part begins. */
  part(name: string): void {
    if (!this.#begun.includes(name)) this.#begun.push(name)
  }

  /** Adds text to the open block of the same text, or begins one; a block of reasoning ends. */
  text(delta: string, of: unknown = anyBlock): ReadonlyArray<UiChunk> {
    const ended = this.endReasoning()
    this.#hasText = true
    const open = this.#text
    if (open !== undefined && (open.of === of || open.of === anyBlock)) {
      open.of = of
      return [...ended, { type: "text-delta", id: open.id, delta }]
    }
    const before = this.endText()
    const id = this.#newId("text")
    this.#text = { id, of }
    this.#begun.push("text")
    return [...ended, ...before, { type: "text-start", id }, { type: "text-delta", id, delta }]
  }

  endText(): ReadonlyArray<UiChunk> {
    const id = this.#text?.id
    this.#text = undefined
    return id === undefined ? [] : [{ type: "text-end", id }]
  }

  /** Adds reasoning to the open block of the same reasoning, or begins one. */
  reasoning(delta: string, of: unknown = anyBlock): ReadonlyArray<UiChunk> {
    const open = this.#reasoning
    if (open !== undefined && (open.of === of || open.of === anyBlock)) {
      open.of = of
      return [{ type: "reasoning-delta", id: open.id, delta }]
    }
    const ended = this.endReasoning()
    const id = this.#newId("reasoning")
    this.#reasoning = { id, of }
    this.#begun.push("reasoning")
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
