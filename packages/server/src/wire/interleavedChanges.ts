/** Interleaves the frames of a stream with changes that come between them. */

/** The changes of a value for one reader. */
export interface Changes {
  /** The frames of what has changed since the last look. */
  readonly look: () => string
  /** Resolves with `undefined` when there is a change, else as `asked` does. */
  readonly orChange: <A>(asked: Promise<A>) => Promise<A | undefined>
  /** The reader is gone, or its stream is over. */
  readonly leave: () => void
}

/** The first frame precedes the changes, which are made when the stream is read. */
export async function* withChanges(frames: AsyncIterable<string>, make: () => Changes): AsyncGenerator<string, void> {
  const changes = make()
  const items = frames[Symbol.asyncIterator]()
  let asked: Promise<IteratorResult<string>> | undefined
  try {
    const first = await items.next()
    if (first.done === true) return
    yield `${first.value}${changes.look()}`
    for (;;) {
      asked ??= items.next()
      const came = await changes.orChange(asked)
      const changed = changes.look()
      if (came === undefined) {
        if (changed !== "") yield changed
        continue
      }
      asked = undefined
      if (came.done === true) return
      yield `${changed}${came.value}`
    }
  } finally {
    changes.leave()
    const left = items.return?.()
    await asked
    await left
  }
}
