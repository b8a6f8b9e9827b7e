/**
 * The spans of the child of a call, in the timeline of the call's chat.
 *
 * Owns: the hook at the child's view. Does not own the child, nor the recorder of the call's chat.
 *
 * SPAN4. Each span of a child has in `under` the row of its call. The call has the time of the child's turn, so that the turn has no span.
 */
import type { LiveChat } from "../live/index.ts"
import type { Span } from "./observed.ts"

/** The recorder of a child. */
interface Recorder {
  readonly spans: ReadonlyArray<Span>
  readonly see: () => void
  readonly close: (to: number, outcome: string) => void
}

export class ChildSpans {
  readonly #row: string
  readonly #recorder: Recorder
  readonly #unhook: () => void
  /** The spans as the timeline of the parent has them; each is the same object until it changes. */
  readonly #made = new WeakMap<Span, Span>()

  constructor(row: string, chat: LiveChat, recorder: Recorder) {
    this.#row = row
    this.#recorder = recorder
    this.#unhook = chat.state.watch(recorder.see)
    recorder.see()
  }

  get spans(): ReadonlyArray<Span> {
    return this.#recorder.spans.flatMap((span) =>
      span.kind === "turn" || span.kind === "zombie" ? [] : [this.#below(span)]
    )
  }

  #below(span: Span): Span {
    const known = this.#made.get(span)
    if (known !== undefined) return known
    const row = this.#row
    const made = { ...span, id: `${row}/${span.id}`, under: span.under === undefined ? row : `${row}/${span.under}` }
    this.#made.set(span, made)
    return made
  }

  close(to: number, outcome: string): void {
    this.#unhook()
    this.#recorder.close(to, outcome)
  }
}
