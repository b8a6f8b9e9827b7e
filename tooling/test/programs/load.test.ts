import { afterEach, describe, expect, test } from "vitest"
import { crowdOf } from "../../lab/load/crowd.ts"
import { type Pace, paceOf } from "../../lab/load/pace.ts"
import { serveBare, type Served, serveTroupe } from "../../lab/load/served.ts"

const clients = 40

const begun: Array<Served> = []

afterEach(async () => {
  for (const served of begun.splice(0)) await served.close()
})

/** Turns the event loop until it holds; the test's own time is the bound. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** Sockets of an earlier test may still close. */
const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length

/** A server, and a crowd of its clients. */
const crowded = async (serve: (pace: Pace, words: number, restMs?: number) => Promise<Served>, words: number) => {
  const pace = paceOf(500)
  const before = sockets()
  const served = await serve(pace, words, 50)
  begun.push(served)
  const crowd = crowdOf(Number(new URL(served.url).port))
  for (let index = 0; index < clients; index++) await crowd.join()
  const readers = [...crowd.readers]
  return { pace, served, crowd, readers, left: () => sockets() - before }
}

test.each([
  ["bare Node", serveBare],
  ["the server", serveTroupe]
])("no stream of %s is starved, and each word comes once", async (_, serve) => {
  const { crowd, readers, pace } = await crowded(serve, 50)
  await until(() => readers.every(({ over }) => over))
  expect(readers.map(({ words }) => words)).toEqual(readers.map(() => 50))
  expect([crowd.delays.length, pace.open]).toEqual([50 * clients, 0])
  expect(Math.min(...crowd.delays)).toBeGreaterThanOrEqual(0)
})

describe("clients that stop reading", () => {
  test("hold up no chat, keep none from its rest, and read on where they were", async () => {
    const { crowd, readers, pace, served } = await crowded(serveTroupe, 400)
    await until(() => readers.every(({ words }) => words > 0))
    crowd.all("pause")
    await until(() => pace.open === 0 && served.chats() === 0)
    expect(readers.some(({ words }) => words < 400)).toBe(true)
    crowd.all("resume")
    await until(() => readers.every(({ over }) => over))
    expect(readers.map(({ words }) => words)).toEqual(readers.map(() => 400))
  })
})

describe("clients that vanish in the middle of a reply", () => {
  test("leave no socket, and end no reply; when that is over, nothing holds its chat", async () => {
    const { crowd, readers, pace, served, left } = await crowded(serveTroupe, Number.POSITIVE_INFINITY)
    await until(() => readers.every(({ words }) => words > 0))
    expect([pace.open, served.chats()]).toEqual([clients, clients])
    crowd.all("destroy")
    await until(() => left() <= 0)
    expect(pace.open).toBe(clients)
    pace.end()
    await until(() => pace.open === 0 && served.chats() === 0)
    expect(left()).toBeLessThanOrEqual(0)
  })
})
