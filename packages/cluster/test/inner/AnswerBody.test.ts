import { Clock } from "@troupe/otp"
import { PassThrough } from "node:stream"
import { describe, expect, it } from "vitest"
import { AnswerBody } from "../../src/inner/AnswerBody.ts"

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** A connection, its body, and the cuts that were notified. */
const connected = () => {
  const connection = new PassThrough()
  let cuts = 0
  const body = new AnswerBody(connection, { clock: Clock.live, quietMs: 60_000, onCut: () => void (cuts += 1) })
  return { connection, body, cuts: () => cuts }
}

const next = (body: AnswerBody): Promise<unknown> =>
  new Promise((resolve, reject) =>
    body.ask({ resolve: (piece) => resolve(piece === undefined ? "end" : Buffer.from(piece).toString()), reject })
  )

describe("INNER6", () => {
  it("nothing is read before the first question", async () => {
    const { connection, body } = connected()
    connection.write("one")
    await nextTurn()
    expect(connection.readableFlowing).toBe(false)
    expect(await next(body)).toBe("one")
  })

  it("pauses the connection at 16 pieces ahead, and loses none", async () => {
    const { connection, body } = connected()
    const first = next(body)
    const sent = Array.from({ length: 40 }, (_, index) => `piece ${index}`)
    for (const piece of sent) {
      connection.write(piece)
      await nextTurn()
    }
    connection.end()
    expect(connection.isPaused()).toBe(true)
    const read = [await first]
    while (read.length <= sent.length) read.push(await next(body))
    expect(read).toEqual([...sent, "end"])
    expect(await next(body)).toBe("end")
  })
})

it("gives what came before a cut, then its failure, each time", async () => {
  const { connection, body, cuts } = connected()
  const first = next(body)
  connection.write("one")
  await nextTurn()
  connection.write("two")
  await nextTurn()
  connection.destroy(new Error("reset"))
  await nextTurn()
  expect([await first, await next(body), cuts()]).toEqual(["one", "two", 1])
  await expect(next(body)).rejects.toMatchObject({ reason: "silent" })
  await expect(next(body)).rejects.toMatchObject({ reason: "silent" })
  expect(cuts()).toBe(1)
})

it("INNER3: a cancelled body destroys the connection, which is no cut", async () => {
  const { connection, body, cuts } = connected()
  body.ask({ resolve: () => expect.unreachable(), reject: () => expect.unreachable() })
  body.cancel()
  await nextTurn()
  expect([connection.destroyed, cuts()]).toEqual([true, 0])
})
