/** The body of a request that may have to be forwarded after its route has read it. */
import { HttpError } from "@troupe/server/HttpError"

export class KeptBody {
  /** The body for the route. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>> | null
  readonly #source: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined
  readonly #most: number
  #chunks: Array<Uint8Array<ArrayBuffer>> | undefined = []

  /** `mostBytes` is the bound of {@link all}. */
  constructor(body: ReadableStream<Uint8Array<ArrayBuffer>> | null, mostBytes: number) {
    this.#most = mostBytes
    this.#source = body?.getReader()
    this.stream =
      this.#source === undefined
        ? null
        : new ReadableStream(
            {
              pull: async (controller) => {
                const chunk = await this.#read()
                if (chunk === undefined) controller.close()
                else controller.enqueue(chunk)
              }
            },
            { highWaterMark: 0 }
          )
  }

  async #read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { value } = (await this.#source?.read()) ?? {}
    if (value !== undefined) this.#chunks?.push(value)
    return value
  }

  /** Reads the rest, and returns the whole body. Throws an `HttpError` (413, 503). */
  async all(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#source === undefined) return undefined
    while (this.#size <= this.#most) {
      if ((await this.#read()) !== undefined) continue
      const whole = new Uint8Array(this.#size)
      let at = 0
      for (const chunk of this.#chunks ?? []) {
        whole.set(chunk, at)
        at += chunk.byteLength
      }
      return whole
    }
    throw new HttpError("body_too_large", `The body has more than ${this.#most} bytes; send less`)
  }

  get #size(): number {
    const chunks = this.#chunks
    if (chunks === undefined) throw new HttpError("moved", "The conversation goes on in another place; ask again")
    return chunks.reduce((bytes, { byteLength }) => bytes + byteLength, 0)
  }

  /** Whether the bytes were dropped. */
  get isForgotten(): boolean {
    return this.#chunks === undefined
  }

  /** Drops the bytes: the request will not be forwarded. */
  forget(): void {
    this.#chunks = undefined
  }

  /** Stops reading, and drops the bytes. */
  release(): void {
    this.forget()
    this.#source?.cancel().catch(() => {})
  }
}
