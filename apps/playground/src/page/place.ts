/** The conversation that the address names: `#/c/<id>`. */
import { useSyncExternalStore } from "react"

const shape = /^#\/c\/(?<id>.+)$/u

const idOf = (hash: string): string | undefined => {
  const id = shape.exec(hash)?.groups?.["id"]
  if (id === undefined) return undefined
  try {
    return decodeURIComponent(id)
  } catch {
    return undefined
  }
}

const subscribe = (changed: () => void): (() => void) => {
  addEventListener("hashchange", changed)
  return () => removeEventListener("hashchange", changed)
}

/** The address of a conversation. */
export const hrefOf = (id: string): string => `#/c/${encodeURIComponent(id)}`

/** The address of the page without a conversation. */
export const newHref = "#/"

/** The id of a new conversation. */
export const newId = (): string => crypto.randomUUID()

/** The id in the address. */
export const usePlace = (): string | undefined => useSyncExternalStore(subscribe, () => idOf(location.hash))
