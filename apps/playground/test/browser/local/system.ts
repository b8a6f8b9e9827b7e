/** A system that lives in the page: a scripted model, a tool, and the link to it. */
import { Fake, tool, Troupe } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { local } from "@troupe/react"
import * as z from "zod"

const weather = tool({
  name: "weather",
  effect: "read",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `12 °C in ${city}`
})

/** Never ends, and ignores its cancellation. */
const stuck = tool({ name: "stuck", effect: "read", execute: () => new Promise<string>(() => {}) })

const words = (text: string, delayMs: number): Fake.Script =>
  text.split(/(?<=\s)/u).flatMap((word): Fake.Script => [{ delayMs }, { text: word }])

let longAnswers = 0

const scriptOf = (said: Message.Message | undefined): Fake.Script => {
  const text = said === undefined ? "" : Message.text(said)
  if (said?.role === "tool") return [{ text: `So it is ${text}.` }, { finish: "stop" }]
  if (text === "weather") {
    return [
      { toolCall: { id: `t${performance.now()}`, name: "weather", arguments: { city: "Oslo" } } },
      { finish: "tool_calls" }
    ]
  }
  if (text === "stuck") {
    return [{ toolCall: { id: `t${performance.now()}`, name: "stuck", arguments: {} } }, { finish: "tool_calls" }]
  }
  if (text === "long") {
    const ten = "one two three four five six seven eight nine ten "
    longAnswers += 1
    // The first answer stops in its middle, so that it is still on its way whenever it is killed. The next one is the same, and ends.
    return [...words(ten, 15), longAnswers === 1 ? { hang: true } : { finish: "stop" }]
  }
  return [{ text: `You said ${text}.` }, { finish: "stop" }]
}

/** The scripted model. */
export const adapter = Fake.make({ respond: ({ messages }) => scriptOf(messages.at(-1)) })

/** Starts the system. */
export const startSystem = async () => {
  const troupe = await Troupe.start({
    name: "page",
    adapter,
    tools: [weather, stuck],
    store: Store.memory(),
    drainMs: 100
  })
  return { troupe, link: local(troupe) }
}
