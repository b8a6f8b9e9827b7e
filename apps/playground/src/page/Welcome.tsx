import { suggestions } from "@troupe/scripted/suggestions"
import { type ReactNode, useState } from "react"

/** The phrases for the tools of the page: it has no files. */
const offered = suggestions.filter(({ tool }) => tool === undefined || tool === "book_room")

/** What an empty conversation shows: what this is, and phrases to begin with. */
export const Welcome = ({ onChoose }: { readonly onChoose: (text: string) => Promise<unknown> }): ReactNode => {
  const [fault, setFault] = useState<string>()
  return (
    <div className="welcome">
      <h1>What should the troupe do?</h1>
      <p>
        Every chat, tool and model stream here is a supervised process, as in{" "}
        <a href="https://troupe.example/coming-from-elixir">Erlang and Elixir</a>. Watch it, cancel it, kill it.
      </p>
      <ul>
        {offered.map(({ text, shows }) => (
          <li key={text}>
            <button
              type="button"
              onClick={() => void onChoose(text).catch((error: unknown) => setFault(String(error)))}
            >
              <strong>{text}</strong>
              <span>{shows}</span>
            </button>
          </li>
        ))}
      </ul>
      {fault === undefined ? null : <p role="alert">{fault}</p>}
    </div>
  )
}
