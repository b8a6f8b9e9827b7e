/** The agent: what the model is told, and the tools that it may call. Change this file first. */
import { tool, type TroupeOptions } from "@troupe/chat"
import * as z from "zod"

const lookUpOrder = tool({
  name: "look_up_order",
  description: "The state of an order",
  parameters: z.object({ order: z.string() }),
  effect: "read", // it changes nothing, so it runs without a question
  execute: ({ order }) => `Order ${order}: two mugs for 24 €, sent on Monday`
})

const refund = tool({
  name: "refund",
  description: "Pays an order back",
  parameters: z.object({ order: z.string(), euros: z.number() }),
  execute: ({ order, euros }) => `Order ${order}: ${euros} € are paid back`
})

export const agent = {
  instructions: "You work for a shop that sells mugs. Answer questions about orders, and pay orders back.",
  tools: [lookUpOrder, refund],
  // Tools that only read run at once. A call of any other tool waits for the decision of a person.
  permissions: { mode: "acceptEdits", ask: () => "suspend" }
} satisfies TroupeOptions
