/**
 * A choice that can be undone for a while before it is sent.
 *
 * Owns: the choice and its timer, until it is sent. Does not own its effect.
 *
 * UNDO1. A choice is sent exactly once: when its time is over, or at once when its component unmounts or the page is left. A choice that
 *        was undone before is never sent.
 */
import * as Clock from "@troupe/otp/clock"
import { useCallback, useEffect, useRef, useState } from "react"
import { errorText } from "../../format/index.ts"

/** How long a choice can be undone, and the clock of that time. */
export interface UndoOptions {
  /** How long a decision can be undone before it is sent, in milliseconds. 0 sends it at once. Default: 3,000. */
  readonly undoMs?: number | undefined
  /** The clock of that time. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
}

/** The choice and where it is. */
export interface Undo<A> {
  /** `held` can be undone, `sent` waits for its answer. */
  readonly state: "open" | "held" | "sent"
  readonly choice: A | undefined
  readonly fault: string | undefined
  readonly choose: (choice: A) => void
  readonly undo: () => void
}

interface Held<A> {
  readonly choice: A
  readonly timer: ReturnType<Clock.Clock["setTimeout"]>
}

interface Standing<A> extends Pick<Undo<A>, "state" | "fault"> {
  readonly choice?: A | undefined
}

/** `send` is called with the choice, and rejects when it is refused. */
export const useUndo = <A>(
  send: (choice: A) => Promise<unknown>,
  { undoMs, clock = Clock.live }: UndoOptions & { readonly undoMs: number }
): Undo<A> => {
  const [standing, setStanding] = useState<Standing<A>>({ state: "open", fault: undefined })
  const held = useRef<Held<A>>(undefined)
  const latest = useRef(send)
  useEffect(() => {
    latest.current = send
  })

  const take = useCallback((): Held<A> | undefined => {
    const taken = held.current
    held.current = undefined
    if (taken !== undefined) clock.clearTimeout(taken.timer)
    return taken
  }, [clock])

  const deliver = useCallback(async (choice: A): Promise<void> => {
    setStanding({ state: "sent", fault: undefined, choice })
    try {
      await latest.current(choice)
    } catch (error) {
      setStanding({ state: "open", fault: errorText(error) })
    }
  }, [])

  useEffect(() => {
    const flush = (): void => {
      const taken = take()
      if (taken !== undefined) void deliver(taken.choice)
    }
    addEventListener("pagehide", flush)
    return () => {
      removeEventListener("pagehide", flush)
      flush()
    }
  }, [take, deliver])

  const choose = (choice: A): void => {
    take()
    if (undoMs === 0) return void deliver(choice)
    const timer = clock.setTimeout(() => {
      const taken = take()
      if (taken !== undefined) void deliver(taken.choice)
    }, undoMs)
    held.current = { choice, timer }
    setStanding({ state: "held", fault: undefined, choice })
  }
  const undo = (): void => {
    if (take() !== undefined) setStanding({ state: "open", fault: undefined })
  }
  return { state: standing.state, choice: standing.choice, fault: standing.fault, choose, undo }
}
