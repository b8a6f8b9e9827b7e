/**
 * A team: a coordinator gives two tasks to researchers, who work at the same time. One of them asks a person.
 *
 * Replace `Fake` by the adapter of a provider. The scripts here are what a model would do.
 */
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Message } from "@troupe/chat/messages"

const says = (text: string): Fake.Script => [{ text }, { finish: "stop" }]

const weather = tool({ name: "weather", effect: "read", execute: () => "12 °C and rain" })
const ask = tool({ name: "ask", effect: "read", execute: () => askUser("Who visits Oslo?") })

/** Gives each researcher its task, and answers with their notes. */
const coordinator = Fake.make({
  respond: ({ messages }) => {
    const notes = messages.filter(({ role }) => role === "tool").map(Message.text)
    if (notes.length > 0) return says(notes.join(" "))
    const tasks = ["the weather", "the visit"].map((input, index) => ({
      toolCall: { id: `task${index}`, name: "research", arguments: { input } }
    }))
    return [...tasks, { finish: "tool_calls" }]
  }
})

/** Uses the tool for its task, and then answers. */
const researcher = Fake.make({
  respond: ({ messages }) => {
    const [task, ...others] = messages.map(Message.text)
    if (others.length > 0) return says(`${task}: ${others.at(-1)}.`)
    const name = task === "the weather" ? "weather" : "ask"
    return [{ text: `I look into ${task}.` }, { toolCall: { id: "look", name } }, { finish: "tool_calls" }]
  }
})

/** Runs the team once. `person` answers a question, and `show` gets a line for each text of a researcher. */
export const runTeam = async (
  person: (question: string) => string,
  show: (line: string) => void
): Promise<string | undefined> => {
  const troupe = await Troupe.start({
    adapter: coordinator,
    tools: [Agents.subagent("researcher", { name: "research", events: true })],
    agents: { researcher: { adapter: researcher, tools: [weather, ask] } }
  })
  const chat = await troupe.chat("oslo")
  let turns = [chat.send("Plan a visit to Oslo")]
  for (;;) {
    for (const turn of turns) {
      for await (const event of turn) {
        if (event.type !== "child_event" || event.event.type !== "text_completed") continue
        show(`${event.agent}: ${event.event.text}`)
      }
    }
    const { pendingApprovals = [], finalResponse } = (await turns.at(-1)?.result()) ?? {}
    if (pendingApprovals.length === 0) {
      await troupe.stop()
      return finalResponse?.outputText
    }
    turns = pendingApprovals.map(({ toolCall, reason }) =>
      chat.approve(toolCall.id, { type: "result", value: person(reason) })
    )
  }
}

if (import.meta.main) {
  const answer = await runTeam(() => "two of us", console.log)
  console.log(`coordinator: ${answer}`)
}
