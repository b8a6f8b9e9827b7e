/** The steps of an input, in words. */
import { setTimeout as after } from "node:timers/promises"
import type { Decision } from "@troupe/chat/tools"
import { listOf, textOf } from "../runner/fields.ts"
import { countOf, meaningOf, type Phrases, splitAt, unquoted } from "./words.ts"
import type { World } from "./world.ts"

type Act = (world: World) => unknown

const send: Act = (world) => world.send("go")

/** What one step does. A step begins when the turns before it are over, unless it says `while` or `after the first`. */
const acts: Phrases<Act> = [
  [
    /^(?<ms>\d+) ms later, while the turn runs, (?<step>.+)$/,
    ({ ms, step = "" }) =>
      async (world) => {
        await after(countOf(ms))
        await meaningOf(acts, step, "step")(world)
      }
  ],
  [
    /^(?<page>useChat client|the same client): (?<step>.+)$/,
    ({ step = "" }) =>
      (world) => {
        world.page()
        return meaningOf(acts, step, "step")(world)
      }
  ],
  [
    /^send (?:(?<name>[A-Z]): )?(?<text>`[^`]*`|.+?)(?:, its history in full| with a model of \w+)?$/,
    ({ name, text = "" }) =>
      (world) => {
        world.said.set(name ?? String(world.said.size), unquoted(text))
        world.send(unquoted(text))
      }
  ],
  [
    /^cancel(?: after the first (?<what>text|reasoning|call))?$/,
    ({ what }) =>
      async (world) => {
        const kinds = { text: "text_delta", reasoning: "reasoning_delta", call: "tool_call_started" }
        const kind = what === undefined ? undefined : kinds[what as keyof typeof kinds]
        for (let waited = 0; kind !== undefined && waited < 5_000; waited += 5) {
          if (world.events.some(({ type }) => type === kind)) break
          await after(5)
        }
        await world.chat.cancel()
      }
  ],
  [/^POST cancel$/, () => (world) => world.post(`/chats/${world.chat.id}/cancel`, {})],
  [
    /^POST one message id (?<count>\w+) times at once to (?<path>\S+)$/,
    ({ count, path = "" }) =>
      async (world) => {
        const message = { id: "m1", role: "user", parts: [{ type: "text", text: "go" }] }
        const body = { id: world.chat.id, messages: [message] }
        const replies = await Promise.all(Array.from({ length: countOf(count) }, () => world.post(path, body)))
        world.answers.push(...replies.map(({ status, text }) => `${status} ${text}`))
      }
  ],
  [/^stop the program, start another$/, () => (world) => world.start()],
  [
    /^approve (?<decisions>.+)$/,
    ({ decisions = "" }) =>
      async (world) => {
        for (const words of splitAt(decisions, /,\s+(?:and\s+)?/)) {
          const [id, decision] = meaningOf(decisionWords, words, "decision")
          const turn = world.chat.approve(id, decision)
          world.watch(turn.result())
          await turn.receipt
        }
      }
  ],
  [
    /^answer (?<text>.+)$/,
    ({ text = "" }) =>
      (world) =>
        world.send(unquoted(text))
  ],
  [/^retry$/, () => (world) => world.watch(world.chat.retry().result())],
  [
    /^wait (?<ms>[\d,]+) ms$/,
    ({ ms }) =>
      () =>
        after(countOf(ms))
  ],
  // The model is made of these words (`wireReplies`).
  [/^\d{3} with retry-after: \d+$/, () => send]
]

const decisionWords: Phrases<readonly [id: string, decision: Decision]> = [
  [/^(?<id>\S+) allow$/, ({ id = "" }) => [id, { type: "allow" }]],
  [/^(?<id>\S+) deny$/, ({ id = "" }) => [id, { type: "deny" }]],
  [/^(?<id>\S+) halt$/, ({ id = "" }) => [id, { type: "halt" }]],
  [/^(?<id>\S+) result (?<value>.+)$/, ({ id = "", value = "" }) => [id, { type: "result", value: unquoted(value) }]]
]

const isMeanwhile = /while the turn runs|after the first|^cancel\b/

/** Runs the steps of an input: those of a scene, or an input and what `then` says. */
export const runSteps = async (world: World): Promise<void> => {
  const { steps, then } = world.input
  const words = listOf(steps).map(textOf)
  const more = (Array.isArray(then) ? then.map(textOf) : then === undefined ? [] : [textOf(then)]).map((text) =>
    isMeanwhile.test(text) ? text : `send \`${text}\``
  )
  const known = [...words, ...more].map((step) => [step, meaningOf(acts, step, "step")] as const)
  const isSent = words.some((step) => /\bsend\b|POST|retry-after/.test(step))
  if (!isSent) send(world)
  for (const [step, act] of known) {
    if (!isMeanwhile.test(step)) await world.settle()
    await act(world)
  }
  await world.settle()
}
