import { expect, test } from "vitest"
import type { Event } from "../../src/events/Event.ts"
import { LiveTurn } from "../../src/live/liveTurn.ts"
import { QueueSource } from "../../src/events/outlet.ts"
import { hop } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { readAll, tagsOf } from "../double/scripts.ts"
import { engineParts } from "../double/stepping.ts"

const check = leakCheck()

const delta = (text: string, id: string | null = null): Event => ({ type: "text_delta", id, delta: text })
const argumentsDelta = (id: string, text: string): Event => ({ type: "tool_call_delta", id, argumentsDelta: text })
const result = {
  thread: { messages: [] },
  finalResponse: undefined,
  steps: [],
  haltedReason: "completed",
  pendingToolCalls: [],
  metadata: {}
}
const completed: Event = { type: "chat_completed", result }

/** A turn whose events the test says. */
const turning = () => {
  const published: Array<Event> = []
  const { options } = engineParts({ adapter: check.fake({ script: [] }) })
  const turn = new LiveTurn({ messages: [] }, options, { published: (event) => published.push(event) })
  const source = new QueueSource(() => turn.turn.outlet.close())
  turn.turn.outlet.attach(source)
  return { turn, published, say: (...events: ReadonlyArray<Event>) => source.push(...events), end: () => source.end() }
}

test("TURN1 what nobody reads yet is kept, fragments of the same thing as one", async () => {
  const { turn, published, say, end } = turning()
  say(
    delta("a"),
    delta("b"),
    delta("c", "other"),
    argumentsDelta("c0", "{"),
    argumentsDelta("c0", "}"),
    argumentsDelta("c1", "{")
  )
  say(delta("d"), delta("e"), completed)
  end()
  expect(published).toHaveLength(9)
  expect(await readAll(turn)).toEqual([
    delta("ab"),
    delta("c", "other"),
    argumentsDelta("c0", "{}"),
    argumentsDelta("c1", "{"),
    delta("de"),
    completed
  ])
})

test("TURN1 a hundred thousand unread fragments are one event", async () => {
  const { turn, say, end } = turning()
  for (let index = 0; index < 100_000; index++) say(delta("x"))
  say(completed)
  end()
  await turn.ended
  const { value } = await turn.next()
  expect(value?.type === "text_delta" && value.delta.length).toBe(100_000)
  expect((await turn.next()).value).toBe(completed)
})

test("TURN1 a reader who waits gets each fragment as it comes", async () => {
  const { turn, say, end } = turning()
  const first = turn.next()
  say(delta("a"))
  expect((await first).value).toEqual(delta("a"))
  const second = turn.next()
  say(delta("b"), completed)
  expect((await second).value).toEqual(delta("b"))
  end()
})

test("TURN2 leaving the loop detaches: the turn goes on, nothing more is kept", async () => {
  const { turn, published, say, end } = turning()
  say(delta("a"))
  for await (const _ of turn) break
  say(delta("b"), completed)
  end()
  expect(tagsOf(published)).toEqual(["text_delta", "text_delta", "chat_completed"])
  expect(await turn.next()).toEqual({ done: true, value: undefined })
  expect(await turn.result()).toBe(result)
})

test("TURN2 a question under way when the reader leaves is answered with the end", async () => {
  const { turn, say, end } = turning()
  const next = turn.next()
  await turn.return()
  expect(await next).toEqual({ done: true, value: undefined })
  say(completed)
  end()
})

test("TURN3 `result` settles when the turn ends, with its result, for all who ask", async () => {
  const { turn, say, end } = turning()
  let settled = 0
  const waiting = [turn.result(), turn.result()].map((promise) => promise.then(() => settled++))
  say(completed)
  await hop()
  expect([settled, turn.over]).toEqual([0, false])
  end()
  await Promise.all(waiting)
  expect(turn.over).toBe(true)
  expect(await turn.result()).toBe(result)
})

test("TURN3 a turn that fails gives what it had, then the failure once, then the end", async () => {
  const { turn, say } = turning()
  say(delta("a"))
  turn.fail(new Error("died"))
  turn.fail(new Error("again"))
  await expect(turn.result()).rejects.toThrow("died")
  expect((await turn.next()).value).toEqual(delta("a"))
  await expect(turn.next()).rejects.toThrow("died")
  expect(await turn.next()).toEqual({ done: true, value: undefined })
})

test("TURN3 a failed turn that nobody asks about troubles nobody", async () => {
  const { turn } = turning()
  turn.fail(new Error("died"))
  await turn.ended
  expect(turn.failure).toMatchObject({ error: { message: "died" } })
})

test("TURN4 a turn that follows another has its events from there on, its result, and its end", async () => {
  const { turn, say, end } = turning()
  const { turn: follower } = turning()
  const { turn: late } = turning()
  say(delta("before"))
  follower.follow(turn)
  say(delta("after"), completed)
  end()
  late.follow(turn)
  expect(await readAll(follower)).toEqual([delta("after"), completed])
  expect([await follower.result(), await late.result()]).toEqual([result, result])
  follower.fail(new Error("late"))
  expect(await follower.result()).toBe(result)
})

test("TURN4 a turn that follows one that has ended, or is about to, has its result as the last event", async () => {
  const { turn, say, end } = turning()
  const [{ turn: follower }, { turn: late }] = [turning(), turning()]
  say(completed)
  await turn.next()
  follower.follow(turn)
  end()
  late.follow(turn)
  expect([await readAll(follower), await readAll(late)]).toEqual([[completed], [completed]])
})

test("TURN5 `detach` discards the events of a turn without a reader, and no others", async () => {
  const [unread, read] = [turning(), turning()]
  unread.say(delta("a"))
  const next = read.turn.next()
  for (const { turn } of [unread, read]) turn.detach()
  for (const { say, end } of [unread, read]) {
    say(delta("b"))
    end()
  }
  expect((await next).value).toEqual(delta("b"))
  expect(await unread.turn.next()).toEqual({ done: true, value: undefined })
  for (const { turn } of [unread, read]) turn.fail(new Error("over"))
})

test("TURN4 a turn fails with the one it follows", async () => {
  const { turn } = turning()
  const { turn: follower } = turning()
  follower.follow(turn)
  turn.fail(new Error("died"))
  await expect(follower.result()).rejects.toThrow("died")
})
