/** Messages on a pipe: each is a frame, four bytes of length and then the message. */

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
  #chunks: Array<Buffer> = []
  #size = 0
  #length: number | undefined

  constructor(read: (message: Uint8Array) => void, maxBytes = Infinity) {
    this.#read = read
    this.#maxBytes = maxBytes
  }

  /** Reads on. Throws when a frame has more than `maxBytes`; then the bytes after it have no meaning. */
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

  #take(length: number): Buffer {
    const all = Buffer.concat(this.#chunks)
    this.#chunks = [all.subarray(length)]
    this.#size -= length
    return all.subarray(0, length)
  }
}
