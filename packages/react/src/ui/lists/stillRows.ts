/**
 * Rows that stay where they are while a person points at them.
 *
 * Owns: the rows as they were when the pointer or the focus came. Does not own the list.
 *
 * STILL1. While the pointer or the focus is in the list, no row moves: a row that ended stays in its place, marked as over, and new rows are
 *         added below.
 */
import { type FocusEvent, type RefObject, useEffect, useRef, useState } from "react"

/** A row, and whether the list no longer has it. */
interface StillRow<A> {
  readonly key: string
  readonly row: A
  readonly isOver: boolean
}

/** The rows to show, and what the list around them takes. */
export interface StillRows<A> {
  readonly rows: ReadonlyArray<StillRow<A>>
  readonly hold: {
    readonly ref: RefObject<HTMLUListElement | null>
    readonly onPointerEnter: () => void
    readonly onPointerLeave: () => void
    readonly onFocus: () => void
    readonly onBlur: (event: FocusEvent<HTMLUListElement>) => void
  }
}

/** Holds the rows of a list. */
export const useStillRows = <A>(items: ReadonlyArray<A>, keyOf: (item: A) => string): StillRows<A> => {
  const box = useRef<HTMLUListElement>(null)
  const [holders, setHolders] = useState({ pointer: false, focus: false })
  const shown = useRef<ReadonlyArray<StillRow<A>>>([])
  // React sends no blur event when it removes the element that has the focus.
  useEffect(() => {
    if (holders.focus && box.current?.matches(":focus-within") !== true) {
      setHolders((before) => ({ ...before, focus: false }))
    }
  })
  const now = new Map(items.map((item) => [keyOf(item), item]))
  const fresh = (key: string, row: A): StillRow<A> => ({ key, row, isOver: false })
  if (holders.pointer || holders.focus) {
    const kept = shown.current.map((row) => {
      const found = now.get(row.key)
      return found === undefined ? { ...row, isOver: true } : fresh(row.key, found)
    })
    const known = new Set(kept.map(({ key }) => key))
    shown.current = [...kept, ...[...now].flatMap(([key, row]) => (known.has(key) ? [] : [fresh(key, row)]))]
  } else {
    shown.current = [...now].map(([key, row]) => fresh(key, row))
  }
  return {
    rows: shown.current,
    hold: {
      ref: box,
      onPointerEnter: () => setHolders((before) => ({ ...before, pointer: true })),
      onPointerLeave: () => setHolders((before) => ({ ...before, pointer: false })),
      onFocus: () => setHolders((before) => ({ ...before, focus: true })),
      onBlur: ({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setHolders((before) => ({ ...before, focus: false }))
      }
    }
  }
}
