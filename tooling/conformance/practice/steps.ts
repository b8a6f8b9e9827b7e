/** The steps of an input, in words. */
import { setTimeout as after } from "node:timers/promises"
import type { Decision } from "@troupe/chat/tools"
import { listOf, textOf } from "../runner/fields.ts"
import { countOf, meaning, meaningOf, splitAt, type Table } from "./words.ts"
import type { World } from "./world.ts"

type Act = (world: World) => unknown

const decisions: Table<readonly [id: string, decision: Decision]> = {
  "{w} (allow|deny|halt)": (id = "", type) => [id, { type: type as "allow" | "deny" | "halt" }],
  "{w} result {q}": (id = "", value) => [id, { type: "result", value }]
}

const acts: Table<Act> = {
  "(?:useChat client|the same client): (.+)":
    (step = "") =>
    (world) => [world.page, meaningOf(acts, step, "step")(world)],
  "{n} ms later, while the turn runs, (.+)":
    (ms = "", step = "") =>
    async (world) => {
      await after(countOf(ms))
      await meaningOf(acts, step, "step")(world)
    },
  "send (?:([A-Z]): )?{q}(?:, its history in full| with a model of \\w+)?":
    (name, text = "") =>
    (world) => {
      world.said.set(name || String(world.said.size), text)
      world.send(text)
    },
  // The model refuses the first request (`namedModel`).
  "\\d{3} with retry-after: \\d+": () => (world) => world.send("go"),
  "cancel(?: after the first (text|reasoning))?": (what) => async (world) => {
    const isSeen = (): boolean => !what || world.events.some(({ type }) => type === `${what}_delta`)
    for (let waited = 0; waited < 5_000 && !isSeen(); waited += 5) await after(5)
    await world.chat.cancel()
  },
  "POST cancel": () => (world) => world.post("/chats/c/cancel", {}),
  "POST one message id {n} times at once to (\\S+)":
    (count = "", path = "") =>
    (world) => {
      const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "go" }] }]
      return Promise.all(
        Array.from({ length: countOf(count.replace(" times", "")) }, () => world.post(path, { id: "c", messages }))
      )
    },
  "stop the program, start another": () => (world) => world.start(),
  "approve (.+)":
    (words = "") =>
    async (world) => {
      for (const word of splitAt(words, /,\s+(?:and\s+)?/)) {
        const [id, decision] = meaningOf(decisions, word, "decision")
        const turn = world.chat.approve(id, decision)
        world.watch(() => turn.result())
        await turn.receipt
      }
    },
  "answer {q}":
    (text = "") =>
    (world) =>
      world.send(text),
  retry: () => (world) => world.watch(() => world.chat.retry().result()),
  "wait {n} ms":
    (ms = "") =>
    () =>
      after(countOf(ms))
}

/** A step begins when the turns before it are over, unless it says otherwise. */
const isMeanwhile = /while the turn runs|^cancel\b/

/** Runs the steps of a scene, or sends an input and what follows as `then`: another input, or a step without one. */
export const runSteps = async (world: World): Promise<void> => {
  const steps = listOf(world.input["steps"]).map(textOf)
  const isBegun = steps.some((step) => /\bsend\b|POST one|retry-after/.test(step))
  const next = [world.input["then"] ?? []].flat().map((then) => {
    const text = textOf(then)
    return meaning(acts, text) !== undefined && !/^send\b/.test(text) ? text : `send \`${text}\``
  })
  const words = [...(isBegun ? [] : ["send go"]), ...steps, ...next]
  const known = words.map((step) => [step, meaningOf(acts, step, "step")] as const)
  for (const [step, act] of known) {
    if (!isMeanwhile.test(step)) await world.settle()
    await act(world)
  }
  await world.settle()
}
