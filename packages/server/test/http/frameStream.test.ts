import { describe, expect, test } from "vitest"
import { HttpError } from "../../src/errors/HttpError.ts"
import { FrameStream, type FrameStreamOptions, nextOf } from "../../src/http/frameStream.ts"
import { turn } from "../double/served.ts"

/** Frames that are there when they are put, and what became of who reads them. */
const hand = (sent: Pick<FrameStreamOptions, "first" | "changes" | "done"> = {}) => {
  const waiting: Array<PromiseWithResolvers<IteratorResult<string>>> = []
  const seen = { asked: 0, returned: 0, aborted: 0, ended: 0, failures: [] as Array<unknown> }
  const iterator: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => iterator,
    next: () => {
      seen.asked += 1
      const asked = Promise.withResolvers<IteratorResult<string>>()
      waiting.push(asked)
      return asked.promise
    },
    return: async () => {
      seen.returned += 1
      return { done: true, value: undefined }
    }
  }
  const stream = new FrameStream(
    (signal) => {
      signal.addEventListener("abort", () => (seen.aborted += 1))
      return iterator
    },
    { ...sent, last: () => "bye", ended: () => (seen.ended += 1), failed: (error) => void seen.failures.push(error) }
  )
  return {
    stream,
    seen,
    put: (value: string) => waiting.shift()?.resolve({ done: false, value }),
    end: () => waiting.shift()?.resolve({ done: true, value: undefined }),
    fail: (error: unknown) => waiting.shift()?.reject(error)
  }
}

describe("FRAME1 nothing is read ahead", () => {
  test("a frame is asked for when the socket asks, and not before", async () => {
    const { stream, seen, put } = hand()
    expect(seen.asked).toBe(0)
    const first = nextOf(stream)
    expect(seen.asked).toBe(1)
    put("a")
    expect(await first).toBe("a")
    await turn()
    expect(seen.asked).toBe(1)
  })

  test("a frame that comes after a heartbeat went out is held, and is the next", async () => {
    const { stream, seen, put } = hand()
    const first = nextOf(stream)
    for (let beats = 0; beats < 3; beats++) stream.beat()
    expect(await first).toBe(": \n\n")
    put("a")
    await turn()
    expect([await nextOf(stream), seen.asked]).toEqual(["a", 1])
  })
})

describe("FRAME1 a change beside the frames", () => {
  const changing = () => {
    const seen = { left: 0, looks: 0 }
    let value = ""
    let wake = (): void => {}
    const changes: FrameStreamOptions["changes"] = [
      (changed) => {
        wake = changed
        const look = (): string => {
          const text = value
          value = ""
          return text
        }
        return { look, leave: () => void (seen.left += 1) }
      }
    ]
    const change = (text: string): void => {
      value += text
      wake()
    }
    return { changes, change, seen }
  }

  test("goes out while the next frame is awaited, together with the others of its tick, and the frame is held", async () => {
    const { changes, change } = changing()
    const { stream, seen, put } = hand({ first: "first", changes })
    expect(await nextOf(stream)).toBe("first")
    const second = nextOf(stream)
    change("1")
    change("2")
    expect(await second).toBe("12")
    put("a")
    await turn()
    expect([await nextOf(stream), seen.asked]).toEqual(["a", 1])
  })

  test("waits for the first frame, precedes the next one, and is over with the stream", async () => {
    const { changes, change, seen } = changing()
    const { stream, put, end } = hand({ changes, done: "done" })
    const first = nextOf(stream)
    change("1")
    await turn()
    put("a")
    expect([await first, await nextOf(stream)]).toEqual(["a", "1"])
    const next = nextOf(stream)
    put("b")
    change("2")
    expect(await next).toBe("2b")
    const last = nextOf(stream)
    end()
    expect([await last, await nextOf(stream), seen.left]).toEqual(["done", undefined, 1])
  })

  test("that fails breaks the stream", async () => {
    const fault = new Error("broken")
    const failing = () => ({
      look: () => {
        throw fault
      },
      leave: () => {}
    })
    const { stream, seen } = hand({ first: "first", changes: [failing] })
    await nextOf(stream)
    await expect(nextOf(stream)).rejects.toBe(fault)
    expect(seen).toEqual({ asked: 0, returned: 1, aborted: 1, ended: 1, failures: [fault] })
  })
})

test("FRAME1 an empty text is no frame: the next one is asked for", async () => {
  const { stream, seen, put } = hand()
  const first = nextOf(stream)
  put("")
  await turn()
  put("a")
  expect([await first, seen.asked]).toEqual(["a", 2])
})

describe("FRAME2 the iterator is returned once, the signal aborted", () => {
  test("when the client is gone, whatever comes after", async () => {
    const { stream, seen, put, fail } = hand()
    const first = nextOf(stream)
    stream.cancel()
    stream.cancel()
    stream.close()
    put("late")
    expect(await first).toBeUndefined()
    expect(await nextOf(stream)).toBeUndefined()
    fail(new Error("late"))
    expect(seen).toEqual({ asked: 1, returned: 1, aborted: 1, ended: 1, failures: [] })
  })

  test("one that ended by itself is not returned", async () => {
    const { stream, seen, end } = hand()
    const first = nextOf(stream)
    end()
    expect(await first).toBeUndefined()
    stream.cancel()
    expect(seen).toEqual({ asked: 1, returned: 0, aborted: 1, ended: 1, failures: [] })
  })

  test("one that failed is reported once, and its reader gets the error", async () => {
    const { stream, seen, fail } = hand()
    const fault = new Error("broken")
    const first = nextOf(stream)
    fail(fault)
    await expect(first).rejects.toBe(fault)
    expect(await nextOf(stream)).toBeUndefined()
    expect(seen).toEqual({ asked: 1, returned: 0, aborted: 1, ended: 1, failures: [fault] })
  })
})

describe("FRAME3 when the server closes", () => {
  test("a socket that waits gets the last frame, and then the end", async () => {
    const { stream, seen } = hand()
    const first = nextOf(stream)
    stream.close()
    expect([await first, await nextOf(stream), seen.returned]).toEqual(["bye", undefined, 1])
  })

  test("a socket that is behind gets what is held first", async () => {
    const { stream, put } = hand()
    void nextOf(stream)
    for (let beats = 0; beats < 3; beats++) stream.beat()
    put("a")
    await turn()
    stream.close()
    expect([await nextOf(stream), await nextOf(stream), await nextOf(stream)]).toEqual(["a", "bye", undefined])
  })
})

test("FRAME4 a socket that got something lately, or does not ask, gets no heartbeat", async () => {
  const { stream, put } = hand()
  for (let beats = 0; beats < 9; beats++) stream.beat()
  const first = nextOf(stream)
  stream.beat()
  stream.beat()
  put("a")
  expect(await first).toBe("a")
  const second = nextOf(stream)
  stream.beat()
  stream.beat()
  put("b")
  expect(await second).toBe("b")
})

describe("FRAME5 a large frame", () => {
  const large = "x".repeat(20_000)
  const counting = (refusal?: HttpError) => {
    const counted: Array<number> = []
    const frames: AsyncIterableIterator<string> = {
      [Symbol.asyncIterator]: () => frames,
      next: async () => ({ done: false, value: large })
    }
    const stream = new FrameStream(frames, {
      last: ({ code }) => code,
      ended: () => {},
      failed: () => {},
      hold: (characters) => {
        if (refusal !== undefined) throw refusal
        counted.push(characters)
      },
      release: (characters) => void counted.push(-characters)
    })
    return { stream, counted }
  }

  test("is counted until the next one is asked for", async () => {
    const { stream, counted } = counting()
    await nextOf(stream)
    expect(counted).toEqual([20_000])
    await nextOf(stream)
    expect(counted).toEqual([20_000, -20_000, 20_000])
    stream.cancel()
    stream.close()
    expect(counted).toEqual([20_000, -20_000, 20_000, -20_000])
  })

  test("that is refused is not sent, and the stream ends with the reason", async () => {
    const { stream, counted } = counting(new HttpError("too_many_bytes", "Read first"))
    expect([await nextOf(stream), await nextOf(stream)]).toEqual(["too_many_bytes", undefined])
    expect(counted).toEqual([])
  })
})
