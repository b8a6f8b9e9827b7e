import * as z from "zod"
import { expectTypeOf, test } from "vitest"
import type { Route } from "../../src/http/index.ts"
import { handled } from "../../src/routes/responses.ts"

const body = z.object({ at: z.number() })

test("VERB2 a verb whose result is open data needs no filter", () => {
  expectTypeOf(handled({ run: async () => {} })).toEqualTypeOf<Route["handle"]>()
  handled({ body, run: async (_, { at }) => at })
  handled({ may: "rewind", run: async () => true })
})

test("VERB2 a verb whose result has a text or an object of a conversation does not compile without its filter", () => {
  // @ts-expect-error an id of the Troupe
  handled({ run: async ({ troupe }) => (await troupe.fork("c")).id })
  // @ts-expect-error the entries of a conversation
  handled({ body, run: async ({ troupe }, { at }) => troupe.history("c", { after: at }) })
  // @ts-expect-error a value that may have a text
  handled({ run: async ({ troupe }): Promise<number | undefined | string> => (await troupe.at("c", 1))?.id })
  // @ts-expect-error a filter that is undefined
  handled({ run: async ({ troupe }) => troupe.history("c"), shows: undefined })
  // @ts-expect-error a response that the verb makes itself
  handled({ run: async () => Response.json({ id: "c" }) })
  // @ts-expect-error the filter of another result
  handled({ run: async ({ troupe }) => troupe.history("c"), shows: ({ chats }: { readonly chats: [] }) => chats })
  expectTypeOf(
    handled({ run: async ({ troupe }) => troupe.history("c"), shows: (all, { shown }) => all.map(shown.commit) })
  ).toEqualTypeOf<Route["handle"]>()
})
