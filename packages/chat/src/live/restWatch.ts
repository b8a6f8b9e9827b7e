/** Since when a chat rests, and whether the store has its newest record. */
export class RestWatch {
  /** The changes of the chat when it was last looked at, and since when it has not changed. */
  #seen: { readonly changes: number; readonly at: number } | undefined
  /** The newest save, until the store has it; a save that failed, until a later one succeeds. */
  #unstored: object | undefined

  /** Whether the store has the newest record. */
  get isStored(): boolean {
    return this.#unstored === undefined
  }

  /** Since when the chat has made so many changes; `undefined` stands for a chat that is busy. */
  since(changes: number | undefined, now: number): number | undefined {
    if (changes === undefined) this.#seen = undefined
    else if (this.#seen?.changes !== changes) this.#seen = { changes, at: now }
    return this.#seen?.at
  }

  /** Starts the time of rest again. */
  touched(): void {
    this.#seen = undefined
  }

  /** Stores a record. */
  async keep<A>(save: () => Promise<A>): Promise<A> {
    const saving = {}
    this.#unstored = saving
    const kept = await save()
    if (this.#unstored === saving) this.#unstored = undefined
    return kept
  }

  /** Sets the record that the store does not have; `undefined` when it has all. */
  unstored(record: object | undefined): void {
    this.#unstored = record
  }
}
