/** Where gates and hooks differ from the cases on purpose. */
import type { Deviation } from "./operation.ts"

export const gateDeviations: ReadonlyArray<Deviation> = [
  {
    decision: "faults",
    because: "what a question or a hook throws refuses the call, or ends the turn; it never escapes",
    explains: ({ message }) => message.includes("escapes")
  },
  {
    decision: "gates",
    because: "an answer that allows a call with other arguments replaces them, and they are checked again",
    explains: ({ path, message }) => path === "argsChanged" && message === "true instead of false"
  },
  {
    decision: "gates",
    because: "whoever is asked is told which call it is about",
    explains: ({ message }) => message.startsWith('"context and tool call id"')
  }
]
