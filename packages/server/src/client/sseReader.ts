/** Reads server-sent events. */

/**
 * Yields the data of each event. `received` is called for all bytes, also for those of comments.
 *
 * **Errors**: fails with the body's error.
 */
export async function* dataOf(body: ReadableStream<Uint8Array>, received: () => void): AsyncGenerator<string, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let unread = ""
  let pieces: Array<string> = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      received()
      const piece = decoder.decode(value, { stream: true })
      pieces.push(piece)
      unread = unread.slice(-1) + piece
      if (!unread.includes("\n\n")) continue
      const events = pieces.join("").split("\n\n")
      unread = events.pop() ?? ""
      pieces = [unread]
      for (const event of events) {
        const data = linesOf(event)
        if (data !== "") yield data
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

const linesOf = (event: string): string =>
  event
    .split("\n")
    .flatMap((line) => (line.startsWith("data:") ? [line.slice(line.startsWith("data: ") ? 6 : 5)] : []))
    .join("\n")
