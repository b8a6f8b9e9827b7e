/** The team: a coordinator gives tasks to researchers, who work at the same time. Change this file first. */
import { askUser, tool, type TroupeOptions } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import * as z from "zod"

const lookUp = tool({
  name: "look_up",
  description: "Facts about a subject",
  parameters: z.object({ subject: z.string() }),
  effect: "read",
  execute: ({ subject }) => `${subject}: 12 °C and rain`
})

const ask = tool({
  name: "ask",
  description: "Asks the person who gave the task",
  parameters: z.object({ question: z.string() }),
  effect: "read",
  execute: ({ question }) => askUser(question)
})

export const team = {
  instructions: "You plan visits. Give each part of the work to a researcher. Then answer from their notes.",
  tools: [Agents.subagent("researcher", { name: "research", description: "Looks into one subject", events: true })],
  agents: {
    researcher: {
      instructions: "You look into one subject. Ask the person when only the person can know.",
      tools: [lookUp, ask]
    }
  }
} satisfies TroupeOptions
