/** A phrase that the scripted model understands, and what it shows. */
interface Suggestion {
  readonly text: string
  readonly shows: string
}

/** The requests that the scripted model understands, for the page. */
export const suggestions: ReadonlyArray<Suggestion> = [
  { text: "What's the weather in Oslo, Lima and Kyoto?", shows: "Three tools beside each other" },
  { text: "Write a report about owls", shows: "A tool that reports its progress" },
  { text: "Run the stubborn tool", shows: "A deadline, and a zombie after it" },
  { text: "Charge 20 dollars", shows: "A call that waits for your decision" },
  { text: "Book a table", shows: "A tool that asks you" },
  { text: "Reserve a hotel room", shows: "A form that an MCP server asks for" },
  { text: "Crash a tool and look at the weather in Rome", shows: "A crash: no other call stops" },
  { text: "Research Oslo with the team", shows: "Two sub-agents, one of which asks" },
  { text: "Tell me a long story", shows: "A long reply: cancel it, kill it" }
]
