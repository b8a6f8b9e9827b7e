/** The steps of an input, in words. */
import { setTimeout as after } from "node:timers/promises"
import type { Decision } from "@troupe/chat/tools"
import { listOf, textOf } from "../runner/json.ts"
import { countOf, meaningOf, splitAt, type Table } from "./words.ts"
import type { World } from "./world.ts"

const approve = async (world: World, id: string, decision: Decision): Promise<void> => {
  const turn = world.chat.approve(id, decision)
  world.watch(() => turn.result())
  await turn.receipt
}

const approvals: Table<Promise<void>, [World]> = {
  "{w} (allow|deny|halt)": (world, id, type) => approve(world, id, { type: type as "allow" | "deny" | "halt" }),
  "{w} result {q}": (world, id, value) => approve(world, id, { type: "result", value })
}

const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "go" }] }]

const acts: Table<unknown, [World]> = {
  "(?:useChat client|the same client): (.+)": (world, step) => [world.page, meaningOf(acts, step, world)],
  "{n} ms later, while the turn runs, (.+)": async (world, ms, step) => {
    await after(countOf(ms))
    await meaningOf(acts, step, world)
  },
  "send (?:([A-Z]): )?{q}(?:, its history in full| with a model of \\w+)?": (world, name, text) => {
    world.said.set(name, text)
    world.send(text)
  },
  // The model refuses the first request (`namedModel`).
  "\\d{3} with retry-after: \\d+": (world) => world.send("go"),
  "cancel(?: after the first (text|reasoning))?": async (world, what) => {
    const isSeen = (): boolean => what === "" || world.events.some(({ type }) => type === `${what}_delta`)
    for (let waited = 0; waited < 20_000 && !isSeen(); waited += 5) await after(5)
    await world.chat.cancel()
  },
  "POST cancel": (world) => world.post("/chats/c/cancel", {}),
  "POST one message id {n} at once to (\\S+)": (world, count, path) =>
    Promise.all(Array.from({ length: countOf(count) }, () => world.post(path, { id: "c", messages }))),
  "stop the program, start another": (world) => world.start(),
  "approve (.+)": async (world, words) => {
    for (const word of splitAt(words, /,\s+(?:and\s+)?/)) await meaningOf(approvals, word, world)
  },
  "answer {q}": (world, text) => world.send(text),
  retry: (world) => world.watch(() => world.chat.retry().result()),
  "wait {n} ms": (_, ms) => after(countOf(ms))
}

/** A text of `then` that is a step, and no input. */
const isStep = /^(?:cancel\b|stop the program|retry$|approve |answer `|wait \d|POST )/

/** Runs the steps of a scene, or sends an input and then what `then` says. A step waits for the turns before, if it may. */
export const runSteps = async (world: World): Promise<void> => {
  const steps = listOf(world.input["steps"]).map(textOf)
  const isBegun = steps.some((step) => /\bsend\b|POST one|retry-after/.test(step))
  const next = [world.input["then"] ?? []].flat().map(textOf)
  const then = next.map((text) => (isStep.test(text) ? text : `send \`${text}\``))
  for (const step of [...(isBegun ? [] : ["send go"]), ...steps, ...then]) {
    if (!/while the turn runs|^cancel\b/.test(step)) await world.settle()
    await meaningOf(acts, step, world)
  }
  await world.settle()
}
