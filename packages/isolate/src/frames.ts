/**
 * Messages on a pipe: each is a frame, four bytes of length and then the message.
 *
 * FREAD1. The time to read is proportional to the bytes, however many frames they have and however they arrive.
 */

const lengthBytes = 4

/** A message as a frame. */
export const framed = (message: Uint8Array): Uint8Array => {
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32LE(message.length)
  return Buffer.concat([length, message])
}

/** Cuts the bytes of a pipe into messages. */
export class FrameReader {
  readonly #maxBytes: number
  readonly #read: (message: Uint8Array) => void
  /** The bytes that were not read, from `#at` in the first chunk on. */
  #chunks: Array<Buffer> = []
  #at = 0
  #size = 0
  #length: number | undefined

  constructor(read: (message: Uint8Array) => void, maxBytes = Infinity) {
    this.#read = read
    this.#maxBytes = maxBytes
  }

  /** Reads the next chunk. Throws when a frame has more than `maxBytes`; the bytes after it have no meaning. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    for (;;) {
      if (this.#length === undefined) {
        if (this.#size < lengthBytes) return
        this.#length = this.#take(lengthBytes).readUInt32LE()
        if (this.#length > this.#maxBytes) throw new RangeError(`a frame of ${this.#length} bytes`)
      }
      if (this.#size < this.#length) return
      const message = this.#take(this.#length)
      this.#length = undefined
      this.#read(message)
    }
  }

  /** Joins the chunks only when the first has too few bytes: at most once for each chunk that arrives. */
  #take(length: number): Buffer {
    let [head = Buffer.alloc(0)] = this.#chunks
    if (head.length - this.#at < length) {
      head = Buffer.concat([head.subarray(this.#at), ...this.#chunks.slice(1)])
      this.#chunks = [head]
      this.#at = 0
    }
    const end = this.#at + length
    const piece = head.subarray(this.#at, end)
    this.#at = end
    this.#size -= length
    if (end === head.length) {
      this.#chunks.shift()
      this.#at = 0
    }
    return piece
  }
}
