import type { Message, ToolCall } from "@troupe/chat/messages"
import type { ReactNode } from "react"

const inWords = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""))

/** The tool messages of a thread by the call they answer. */
export type Results = ReadonlyMap<string, Extract<Message.Message, { role: "tool" }>>

/** The calls of a message, and their results. */
export const Calls = ({
  calls,
  results
}: {
  readonly calls: ReadonlyArray<ToolCall.ToolCall>
  readonly results: Results
}): ReactNode => (
  <ul className="calls">
    {calls.map((call) => {
      const result = results.get(call.id)
      const outcome = result === undefined ? "open" : (result.outcome ?? "answered")
      return (
        <li key={call.id} data-outcome={outcome}>
          <details>
            <summary>
              <code>{call.name}</code> <span className="outcome">{outcome.replaceAll("_", " ")}</span>
            </summary>
            <pre>{inWords(call.arguments ?? {})}</pre>
            {result === undefined ? null : <pre>{inWords(result.content)}</pre>}
          </details>
        </li>
      )
    })}
  </ul>
)
