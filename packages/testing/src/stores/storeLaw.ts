/** Checks a law of a store: in an empty store, on a test clock. */
import { type Conversation, Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { describe, SessionError, ValidationError } from "@troupe/chat/errors"
import { canonicalJson, holds, law, type Law } from "../law/index.ts"

/**
 * Opens an empty store for one law, which closes it.
 *
 * **Contract**: the store uses this clock, and keeps conversations for `ttlMs`.
 */
export type MakeStore = (options: {
  readonly clock: Clock.Clock
  readonly ttlMs: number | undefined
}) => Store.SessionStore | Promise<Store.SessionStore>

/** Makes a law from a check on an empty store. */
export const storeLaw = (
  make: MakeStore,
  title: string,
  check: (store: Store.SessionStore, clock: Clock.TestClock) => Promise<void>,
  ttlMs?: number
): Law =>
  law(title, async () => {
    const clock = Clock.test()
    const store = await make({ clock, ttlMs })
    try {
      await check(store, clock)
    } finally {
      await store.close()
    }
  })

/** Throws unless the two values are equal; a missing field equals `undefined`. */
export const same = (what: string, seen: unknown, expected: unknown): void => {
  const [one, other] = [canonicalJson(seen), canonicalJson(expected)]
  holds(one === other, () => `${what} is ${one} instead of ${other}`)
}

/** Throws unless the store refuses with this reason. */
export const refuses = async (
  what: string,
  reason: SessionError["reason"] | "invalid_options",
  ask: () => unknown
): Promise<void> => {
  const error = await failure(ask)
  const isRefusal = error instanceof SessionError || error instanceof ValidationError
  if (isRefusal && error.reason === reason) return
  throw new Error(`${what} was to be refused with ${reason}, and came to ${describe(error)}`, { cause: error })
}

/** The error of a call; without an error, its result. */
const failure = async (ask: () => unknown): Promise<unknown> => {
  try {
    return await ask()
  } catch (error) {
    return error
  }
}

/** Writes a record whole, and returns the number of its entry. */
export const save = async (
  store: Pick<Store.SessionStore, "append">,
  record: Conversation,
  appending?: Store.Appending
): Promise<{ readonly seq: number | undefined }> => {
  const { version } = await store.append(record.id, [Store.saved(record)], appending)
  return { seq: version }
}

export const saveAll = async (store: Store.SessionStore, records: ReadonlyArray<Conversation>): Promise<void> => {
  for (const record of records) await save(store, record)
}

/** The stored data of a chat: its record and its history. */
export const everything = async (store: Store.SessionStore, id: string): Promise<unknown> => [
  await store.load(id),
  await store.history(id, { limit: 1_000 })
]
