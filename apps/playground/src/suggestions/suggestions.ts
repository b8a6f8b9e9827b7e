/** The requests that the scripted model understands, for the page. */
export const suggestions: ReadonlyArray<string> = [
  "What's the weather in Oslo, Lima and Kyoto?",
  "Write a report about owls",
  "Run the stubborn tool",
  "Charge 20 dollars",
  "Book a table",
  "Crash a tool and look at the weather in Rome",
  "Research Oslo with the team",
  "Tell me a long story"
]
