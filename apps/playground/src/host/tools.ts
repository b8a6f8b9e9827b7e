/**
 * The playground's tools: one for each kind of behaviour.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises"
import { askUser, tool } from "@troupe/chat"
import type { Tool } from "@troupe/chat/tools"
import * as z from "zod"

const degreesOf = (city: string): number =>
  Array.from(city).reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 30

/** The weather of a city, after a while. */
export const weather = tool({
  name: "weather",
  description: "The weather in a city",
  effect: "read",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }, { signal }) => {
    await sleep(300 + degreesOf(city) * 40, undefined, { signal })
    return `${degreesOf(city)} °C in ${city}`
  }
})

const report = tool({
  name: "report",
  description: "Writes a report, which takes a while, and reports its progress",
  effect: "read",
  parameters: z.object({ topic: z.string() }),
  timeoutMs: 30_000,
  execute: async ({ topic }, { signal, progress }) => {
    for (let part = 1; part <= 16; part++) {
      await sleep(250, undefined, { signal })
      progress({ done: part, total: 16 })
    }
    return `A report about ${topic}, in 16 parts`
  }
})

const stubborn = tool({
  name: "stubborn",
  description: "Works for some seconds and ignores its cancellation",
  effect: "read",
  parameters: z.object({ seconds: z.number().positive().max(60) }),
  timeoutMs: 1_500,
  execute: async ({ seconds }) => {
    await sleep(seconds * 1_000)
    return "done at last, when nobody waited"
  }
})

const charge = tool({
  name: "charge",
  description: "Charges the customer's card",
  parameters: z.object({ dollars: z.number().positive() }),
  key: () => "card",
  execute: async ({ dollars }, { signal }) => {
    await sleep(600, undefined, { signal })
    return `charged ${dollars} dollars`
  }
})

const ask = tool({
  name: "ask",
  description: "Asks the user a question and waits for the answer",
  effect: "read",
  parameters: z.object({ question: z.string() }),
  execute: ({ question }) => askUser(question)
})

/** Asks a person for a researcher. */
export const askPerson = tool({
  name: "ask_person",
  description: "Asks a person a question, and returns the answer",
  effect: "read",
  parameters: z.object({ question: z.string() }),
  execute: ({ question }) => askUser(question)
})

const crash = tool({
  name: "crash",
  description: "Breaks",
  effect: "read",
  execute: async (_, { signal }) => {
    await sleep(200, undefined, { signal })
    throw new Error("the tool broke, as asked")
  }
})

/** All tools. */
export const tools: ReadonlyArray<Tool.Tool> = [weather, report, stubborn, charge, ask, crash]
