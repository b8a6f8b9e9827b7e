/** Adapters and stores that pause at random, by turns of the event loop: what runs meanwhile differs from pause to pause. */
import type { Adapter } from "../../src/adapter/Adapter.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"

/** Waits for some turns of the event loop. */
export const turnsOfLoop = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** A function that pauses half of the time, for up to six turns. */
export const pausesBy = (chance: () => number) => async (): Promise<void> => {
  const drawn = chance()
  if (drawn > 0.5) await turnsOfLoop(Math.ceil((drawn - 0.5) * 12))
}

/** The adapter with a pause before each event of a reply. */
export const pausing = (adapter: Adapter, pause: () => Promise<void>): Adapter => ({
  ...adapter,
  stream: async function* (request, options) {
    for await (const event of await adapter.stream(request, options)) {
      await pause()
      yield event
    }
  }
})

/** The store with a pause before each load. */
export const pausingLoads = (store: SessionStore, pause: () => Promise<void>): SessionStore => ({
  ...store,
  load: async (id) => {
    await pause()
    return store.load(id)
  }
})
