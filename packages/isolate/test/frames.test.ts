import { describe, expect, test, vi } from "vitest"
import { framed, FrameReader } from "../src/frames.ts"

const readBy = (step: number, bytes: Buffer): ReadonlyArray<ReadonlyArray<number>> => {
  const messages: Array<ReadonlyArray<number>> = []
  const reader = new FrameReader((message) => messages.push([...message]))
  for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step))
  return messages
}

describe("a frame reader", () => {
  const messages = [[], [1], [2, 3, 4, 5, 6], [], Array.from({ length: 300 }, (_, n) => n % 256)]
  const bytes = Buffer.concat(messages.map((message) => framed(Uint8Array.from(message))))

  test.each([1, 2, 3, 5, 64, 1_000])("reads the same messages from pieces of %i bytes", (step) => {
    expect(readBy(step, bytes)).toEqual(messages)
  })

  test.each([1 << 16, 7])("FREAD1 copies few bytes, whatever the frames are: pieces of %i bytes", (step) => {
    const empty = Buffer.alloc(1 << 16)
    const large = Buffer.from(framed(new Uint8Array(1 << 20)))
    for (const frames of [empty, large]) {
      const concat = vi.spyOn(Buffer, "concat")
      try {
        readBy(step, frames)
        const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0)
        expect(copied).toBeLessThanOrEqual(3 * frames.length)
      } finally {
        concat.mockRestore()
      }
    }
  })

  test("keeps back what is not whole", () => {
    expect(readBy(7, bytes.subarray(0, -1))).toEqual(messages.slice(0, -1))
  })

  test("refuses a frame beyond its bound before the frame has arrived", () => {
    const reader = new FrameReader(() => {}, 8)
    reader.push(Buffer.from(framed(new Uint8Array(8))))
    expect(() => reader.push(Buffer.from([9, 0, 0, 0]))).toThrow("a frame of 9 bytes")
  })
})
