/**
 * A list that is read page by page.
 *
 * Owns: the pages so far. Does not own when the list is read again.
 *
 * CONVS1. The list is requested when the component mounts, page by page, and again on `refresh`.
 * CONVS2. An answer to an outdated request is discarded.
 * LIST3. A failure is shown, and the list stays.
 */
import { useCallback, useEffect, useMemo, useRef, useState } from "react"

/** A page: its items, and the cursor of the next one. */
interface PageOf<Item> {
  readonly items: ReadonlyArray<Item>
  readonly next?: string | undefined
}

/** Requests a page. `known` is how many items the list has that is read again. */
type AskPage<Item> = (after: string | undefined, known: number) => Promise<PageOf<Item>>

/** The list so far. */
export interface Pages<Item> {
  readonly items: ReadonlyArray<Item>
  readonly loading: boolean
  readonly error: Error | undefined
  readonly refresh: () => Promise<void>
  readonly more: (() => Promise<void>) | undefined
}

interface Listed<Item> extends Pick<Pages<Item>, "items" | "loading" | "error"> {
  readonly next: string | undefined
}

/** Reads the list when the component mounts, and when `page` is another function. */
export const usePages = <Item>(page: AskPage<Item>): Pages<Item> => {
  const [listed, setListed] = useState<Listed<Item>>({ items: [], next: undefined, loading: true, error: undefined })
  const request = useRef<object | undefined>(undefined)
  const count = useRef(0)

  const ask = useCallback(
    async (after?: string): Promise<void> => {
      const question = {}
      request.current = question
      setListed((before) => (before.loading ? before : { ...before, loading: true }))
      const answer = await pageOf(page, after, count.current)
      if (request.current !== question) return
      setListed((before) => {
        if (answer instanceof Error) return { ...before, loading: false, error: answer }
        const items = after === undefined ? answer.items : [...before.items, ...answer.items]
        count.current = items.length
        return { items, next: answer.next, loading: false, error: undefined }
      })
    },
    [page]
  )

  useEffect(() => {
    void ask()
    return () => {
      request.current = undefined
    }
  }, [ask])

  const refresh = useCallback(() => ask(), [ask])
  const { items, next, loading, error } = listed
  return useMemo(
    () => ({ items, loading, error, refresh, more: next === undefined ? undefined : () => ask(next) }),
    [items, next, loading, error, ask, refresh]
  )
}

const pageOf = async <Item>(
  page: AskPage<Item>,
  after: string | undefined,
  count: number
): Promise<PageOf<Item> | Error> => {
  try {
    return await page(after, count)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error), { cause: error })
  }
}
