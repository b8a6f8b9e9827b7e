/** Shows the parts of the observer one at a time, where there is no room for all. */
import { type KeyboardEvent, type ReactNode, useId, useRef } from "react"
import { keyedChoice } from "./choiceKeys.ts"

/** A part with its name. */
export interface Part {
  readonly id: string
  readonly title: string
  readonly content: ReactNode
}

interface TabsProps {
  readonly parts: ReadonlyArray<Part>
  readonly chosen: string
  readonly onChoose: (id: string) => void
}

/** The tabs of WAI-ARIA: arrow keys, Home and End choose one. */
export const Tabs = ({ parts, chosen, onChoose }: TabsProps) => {
  const base = useId()
  const list = useRef<HTMLDivElement>(null)
  const part = parts.find(({ id }) => id === chosen) ?? parts[0]
  if (part === undefined) return undefined
  const keyPressed = (event: KeyboardEvent) => {
    const next = keyedChoice(
      event,
      parts.map(({ id }) => id),
      part.id
    )
    if (next === undefined) return
    event.preventDefault()
    onChoose(next)
    list.current?.querySelector<HTMLElement>(`[data-tab="${next}"]`)?.focus()
  }
  return (
    <>
      <div role="tablist" aria-label="Parts of the observer" className="tro-tabs" ref={list} onKeyDown={keyPressed}>
        {parts.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${base}${id}`}
            data-tab={id}
            aria-selected={id === part.id}
            {...(id === part.id ? { "aria-controls": `${base}panel` } : {})}
            tabIndex={id === part.id ? 0 : -1}
            onClick={() => onChoose(id)}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${base}panel`}
        aria-labelledby={`${base}${part.id}`}
        tabIndex={0}
        className="tro-panel"
        data-part={part.id}
      >
        {part.content}
      </div>
    </>
  )
}
