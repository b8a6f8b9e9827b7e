/** A Troupe of a shop, whose agents answer with their own adapters. */
import type { LeakCheck } from "./leakCheck.ts"
import { calls, says } from "./scripts.ts"
import type { Fake, Script } from "../../src/adapter/Fake.ts"
import { text } from "../../src/model/Message.ts"
import type { Request } from "../../src/model/Request.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

export const refund = tool({ name: "refund", execute: () => "refunded" })
export const search = tool({ name: "search", effect: "read", execute: () => "found" })

/** An adapter that calls the tools that the last user message names with `!`, once, and then answers with its own name. */
export const speaking = (check: LeakCheck, name: string): Fake =>
  check.fake({
    respond: (request): Script => {
      const named = namedIn(request)
      return named.length === 0 ? says(name) : calls(...named)
    }
  })

const namedIn = ({ messages }: Request): ReadonlyArray<string> => {
  const last = messages.at(-1)
  if (last?.role !== "user") return []
  return Array.from(text(last).matchAll(/!(\w+)/g), ([, name]) => name ?? "")
}

/** The agents support and billing, who hand over to each other, and research, to whom nobody does. */
export const shop = (check: LeakCheck) => {
  const adapters = {
    troupe: speaking(check, "troupe"),
    support: speaking(check, "support"),
    billing: speaking(check, "billing"),
    research: speaking(check, "research")
  }
  const options = {
    adapter: adapters.troupe,
    model: "general",
    tools: [search],
    instructions: "You are the shop.",
    agents: {
      support: { adapter: adapters.support, handoffs: ["billing"], instructions: "You support." },
      billing: {
        adapter: adapters.billing,
        model: "big",
        tools: [refund],
        handoffs: ["support"],
        description: "Knows invoices.",
        version: "7"
      },
      research: { adapter: adapters.research }
    }
  } satisfies TroupeOptions
  return { adapters, options }
}
