/** Sends large answers in pieces: a client gets the next piece when it has taken the previous one. */

export const pieceBytes = 16_384

/**
 * Returns the pieces of an answer, each made on demand. `released` is called exactly once: when all pieces were taken, when
 * the reader cancels, when the signal is aborted (which ends the stream with an error), or when the stream is
 * garbage-collected unread.
 */
export const inPieces = (
  answer: Uint8Array,
  signal: AbortSignal,
  released: () => void
): ReadableStream<Uint8Array<ArrayBuffer>> => {
  let rest: Uint8Array | undefined = answer
  let gone: (() => void) | undefined
  const release = (): void => {
    if (rest === undefined) return
    rest = undefined
    if (gone !== undefined) signal.removeEventListener("abort", gone)
    released()
  }
  const stream = new ReadableStream(
    {
      start: (controller) => {
        gone = leaving(new WeakRef(controller), signal, release)
        if (signal.aborted) gone()
        else signal.addEventListener("abort", gone, { once: true })
      },
      pull: (controller) => {
        if (rest === undefined || rest.byteLength === 0) {
          release()
          return controller.close()
        }
        controller.enqueue(rest.slice(0, pieceBytes))
        rest = rest.subarray(pieceBytes)
      },
      cancel: release
    },
    { highWaterMark: 0 }
  )
  unread.register(stream, release)
  return stream
}

/** Releases unread streams: neither the registry nor the signal references the stream. */
const unread = new FinalizationRegistry<() => void>((release) => release())

const leaving =
  (controller: WeakRef<ReadableStreamDefaultController>, signal: AbortSignal, release: () => void): (() => void) =>
  () => {
    release()
    controller.deref()?.error(signal.reason)
  }
