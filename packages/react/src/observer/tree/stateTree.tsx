/** The state of a process as a folded tree. */
import { useMemo } from "react"
import { count } from "../../format/index.ts"
import { type StatePart, stateOf } from "./stateText.ts"

/** A state; its first level is open. */
export const StateTree = ({ text }: { readonly text: string }) => {
  const state = useMemo(() => stateOf(text), [text])
  if (text === "") return <p className="tro-empty">None</p>
  return (
    <div className="tro-code" tabIndex={0} role="region" aria-label="State">
      {state.parts === undefined ? state.text : <Parts parts={state.parts} />}
    </div>
  )
}

const Parts = ({ parts }: { readonly parts: ReadonlyArray<StatePart> }) => (
  <ul className="tro-fold">
    {parts.map((part, index) => (
      <li key={index}>
        {part.parts === undefined || part.parts.length === 0 ? (
          <>
            <Name part={part} />{" "}
            <span className="tro-leaf">{part.parts === undefined ? part.text : `${part.text} empty`}</span>
          </>
        ) : (
          <details>
            <summary>
              <Name part={part} />{" "}
              <span className="tro-leaf">
                {part.text} {count(part.parts.length)}
              </span>
            </summary>
            <Parts parts={part.parts} />
          </details>
        )}
      </li>
    ))}
  </ul>
)

const Name = ({ part: { name } }: { readonly part: StatePart }) =>
  name === undefined ? null : <span className="tro-key">{name}</span>
