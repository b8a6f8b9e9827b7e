/** A phrase that the scripted model understands, and what it shows. */
export interface Suggestion {
  readonly text: string
  readonly shows: string
  /** The tool that it needs, if not every program has it. */
  readonly tool?: string
}

/** What a person can say to the scripted model. */
export const suggestions: ReadonlyArray<Suggestion> = [
  { text: "What's the weather in Oslo, Lima and Kyoto?", shows: "Three tools beside each other" },
  { text: "Run the slow tool", shows: "A tool that reports its progress" },
  { text: "Run the stubborn tool", shows: "A deadline, and a zombie after it" },
  { text: "Charge 20 dollars", shows: "A call that waits for your decision" },
  { text: "Book a table", shows: "A tool that asks you" },
  { text: "Reserve a hotel room", shows: "A form that an MCP server asks for", tool: "book_room" },
  { text: "List the files here, and what is 12 * (3 + 4)", shows: "Files, and a sum", tool: "list_directory" },
  { text: "Search for main and read it", shows: "Two steps", tool: "search_files" },
  { text: "Crash a tool and look at the weather in Rome", shows: "A crash: no other call stops" },
  { text: "Research Oslo with the team", shows: "Two sub-agents, one of which asks" },
  { text: "Scout Oslo in the background", shows: "An agent that works while you talk, and asks you" },
  { text: "Ask the scout how far it is", shows: "A message to an agent that works, and its answer" },
  { text: "Send the scout to Bergen", shows: "A correction of an agent that works" },
  { text: "Tell me a long story", shows: "A long reply: cancel it, kill it" }
]

/** What a person can write first in a terminal, and what it shows. */
export const proposals: ReadonlyArray<Suggestion> = [
  { text: "list the files here, and what is 12 * (3 + 4)", shows: "two tools beside each other" },
  { text: "run the slow tool, and crash a tool", shows: "progress, and a crash that disturbs nothing" },
  { text: "book a table", shows: "a tool that asks you back" }
]
