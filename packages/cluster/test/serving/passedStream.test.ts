import { describe, expect, test } from "vitest"
import type { Pieces, Question } from "@troupe/server/Node"
import { PassedStream } from "../../src/serving/passedStream.ts"

const nextOf = (pieces: Pieces): Promise<string | Uint8Array | undefined> =>
  new Promise((resolve, reject) => pieces.ask({ resolve, reject }))

/** The stream of another node, and what was done to it. */
const passed = () => {
  const [left, closing] = [new AbortController(), new AbortController()]
  const seen = { asked: 0, cancelled: 0, ended: 0 }
  let question: Question | undefined
  const source = {
    ask: (asked: Question) => {
      seen.asked += 1
      question = asked
    },
    cancel: () => void (seen.cancelled += 1)
  }
  const ended = (): void => void (seen.ended += 1)
  const stream = new PassedStream(source, { left: left.signal, closing: closing.signal, ended })
  return { stream, seen, left, closing, answer: (): Question => question ?? expect.unreachable() }
}

describe("PASSED1 a passed stream", () => {
  test("asks for a piece when the socket asks, and is over once at its end", async () => {
    const { stream, seen, answer, left } = passed()
    expect(seen.asked).toBe(0)
    const one = nextOf(stream)
    answer().resolve("one")
    expect(await one).toBe("one")
    const end = nextOf(stream)
    answer().resolve(undefined)
    expect(await end).toBe(undefined)
    left.abort()
    stream.cancel()
    expect(seen).toEqual({ asked: 2, cancelled: 0, ended: 1 })
    expect(await nextOf(stream)).toBe(undefined)
  })

  test("is over with its failure", async () => {
    const { stream, seen, answer } = passed()
    const one = nextOf(stream)
    answer().reject(new Error("cut"))
    await expect(one).rejects.toThrow("cut")
    await expect(nextOf(stream)).rejects.toThrow("cut")
    expect(seen).toEqual({ asked: 1, cancelled: 0, ended: 1 })
  })

  test("ends for a client that leaves, also while a piece is awaited", async () => {
    const { stream, seen, left, answer } = passed()
    const one = nextOf(stream)
    left.abort()
    expect(await one).toBe(undefined)
    answer().resolve("late")
    stream.cancel()
    expect(seen).toEqual({ asked: 1, cancelled: 1, ended: 1 })
  })

  test("of a client that has left already is cancelled at once", () => {
    const seen: Array<string> = []
    const source = { ask: () => seen.push("ask"), cancel: () => void seen.push("cancel") }
    const ended = (): void => void seen.push("ended")
    const stream = new PassedStream(source, { left: AbortSignal.abort(), closing: new AbortController().signal, ended })
    stream.cancel()
    expect(seen).toEqual(["cancel", "ended"])
  })
})

test("PASSED2: fails when the server closes, also while a piece is awaited", async () => {
  const { stream, seen, closing } = passed()
  const one = nextOf(stream)
  closing.abort()
  await expect(one).rejects.toMatchObject({ code: "closing" })
  expect(seen).toEqual({ asked: 1, cancelled: 1, ended: 1 })
})
