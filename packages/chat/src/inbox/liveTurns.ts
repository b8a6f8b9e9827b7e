/**
 * The live parts of the turns of one chat process, and the receipts of their inputs.
 *
 * ENV1. The live part of a turn is kept until the turn is over and its input has its final receipt.
 */
import { ignoreRejection, SparseMap } from "../async/index.ts"
import type { InboxEntry } from "../record/index.ts"
import type { Holding } from "./Inbox.ts"
import type { LostInputs } from "./takenInputs.ts"
import { dataOf, type Turn, type TurnData } from "./turnData.ts"

/** Makes the live part of a turn that was not added, and stores an input that waits. */
interface TurnParts {
  readonly accept?: ((input: InboxEntry) => Promise<unknown>) | undefined
  readonly turn?: ((id: string) => Turn) | undefined
}

export class LiveTurns extends SparseMap<string, Turn> {
  readonly #parts: TurnParts

  constructor(parts: TurnParts) {
    super()
    this.#parts = parts
  }

  /** Makes the live part of a turn that was not added: of a turn in plain data, or after a restart. */
  made(id: string): Turn {
    const made = this.#parts.turn?.(id)
    if (made === undefined) throw new Error(`the chat has no turn ${id}`)
    this.set(id, made)
    return made
  }

  /** Fails turns that do not begin. */
  fail(turns: ReadonlyArray<string>, error: unknown): void {
    for (const id of turns) {
      this.all.get(id)?.outlet.fail(error)
      this.delete(id)
    }
  }

  /** Settles receipts: inputs that wait, and turns that do not run. The turn `back` waits, and its input has no row (CHAT9). */
  settle({ pend, fail, back }: LostInputs & { readonly back?: string }, error: unknown): void {
    for (const id of pend) this.all.get(id)?.delivery?.pend()
    for (const id of fail) this.all.get(id)?.delivery?.reject(error)
    if (back !== undefined) this.all.get(back)?.delivery?.goesBack?.()
  }

  /** Accepts inputs; `hold` is called with one whose turn began without a row, if the store has its row now, or may have it. */
  acceptAgain(
    inputs: ReadonlyArray<InboxEntry>,
    isDoubted: boolean,
    hold: (turn: TurnData, status: Holding) => void
  ): void {
    for (const input of inputs) {
      const accepted = this.#parts.accept?.(input)
      const turn = this.all.get(input.id)
      if (accepted === undefined || turn?.delivery?.goesBack === undefined) ignoreRejection(accepted)
      else
        turn.delivery.accepting(accepted, isDoubted, (isUnknown) =>
          hold(dataOf(turn, input.id), isUnknown ? "doubted" : "failed")
        )
    }
  }

  /** The store has these inputs in the thread; their senders follow the turn that has them. */
  deliver(turns: ReadonlyArray<string>, within: string): void {
    const leader = this.all.get(within)?.delivery
    for (const id of turns) {
      this.all.get(id)?.delivery?.deliver(leader)
      if (id !== within) this.delete(id)
    }
  }
}
