import { useTroupe } from "@troupe/react"
import type { Store } from "@troupe/chat/store"
import { type ReactNode, useState } from "react"

/** A scope has no more (MEMO3), so that one page has all. */
const limit = 1_000

/** What was remembered of the person, the newest first; each may be deleted. The list is read when it is opened. */
export const Memories = (): ReactNode => {
  const troupe = useTroupe()
  const [memories, setMemories] = useState<Store.Lists.MemoryList["memories"]>()
  const [fault, setFault] = useState<string>()
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
      setMemories((await troupe.memories({ limit })).memories)
      setFault(undefined)
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <details className="memories" onToggle={({ currentTarget }) => currentTarget.open && void attempt(async () => {})}>
      <summary>Memories</summary>
      <div role="region" aria-label="Memories">
        {fault === undefined ? null : <p role="alert">{fault}</p>}
        {memories?.length === 0 ? <p>Nothing was remembered.</p> : null}
        <ul>
          {memories?.map(({ id, text }) => (
            <li key={id}>
              <span>{text}</span>
              <button
                type="button"
                aria-label={`Forget: ${text}`}
                onClick={() => void attempt(() => troupe.forget(id))}
              >
                Forget
              </button>
            </li>
          ))}
        </ul>
      </div>
    </details>
  )
}
