/** The laws of the secrets of a store. */
import type { Store } from "@troupe/chat/store"
import type { Law } from "../law/index.ts"
import { everything, type MakeStore, refuses, same, storeLaw, save } from "./storeLaw.ts"
import { said } from "./storeSamples.ts"

type Secrets = NonNullable<Store.SessionStore["secrets"]>

/** A law of the stores that keep secrets; another store has no such laws. */
const secretLaw = (
  make: MakeStore,
  title: string,
  check: (secrets: Secrets, store: Store.SessionStore) => Promise<void>
): Law =>
  storeLaw(make, title, async (store) => (store.secrets === undefined ? undefined : check(store.secrets, store)))

export const secretLaws = (make: MakeStore): ReadonlyArray<Law> => [
  secretLaw(make, "a secret is loaded by its owner and its key alone, and the last text counts", async (secrets) => {
    same("before", await secrets.load("anna", "tokens"), undefined)
    await secrets.save("anna", "tokens", "one")
    await secrets.save("anna", "client", "two")
    await secrets.save("bob", "tokens", "three")
    await secrets.save("anna", "tokens", "four")
    same("of the owner", await secrets.load("anna", "tokens"), "four")
    same("of another key", await secrets.load("anna", "client"), "two")
    same("of another owner", await secrets.load("bob", "tokens"), "three")
    same("of an owner of the same beginning", await secrets.load("ann", "tokens"), undefined)
    await secrets.save("anna", "tokens", undefined)
    same("a deleted one", await secrets.load("anna", "tokens"), undefined)
    same("the other key", await secrets.load("anna", "client"), "two")
  }),
  secretLaw(make, "all secrets of an owner are deleted, and no other", async (secrets) => {
    for (const key of ["a", "b"]) for (const owner of ["anna", "anna/", "Anna"]) await secrets.save(owner, key, key)
    await secrets.delete("anna")
    await secrets.delete("unknown")
    const left = await Promise.all(["anna", "anna/", "Anna"].map(async (owner) => secrets.load(owner, "b")))
    same("what is left", left, [undefined, "b", "b"])
  }),
  secretLaw(
    make,
    "no record, history, list or search has a secret, and no deletion of a chat",
    async (secrets, store) => {
      await secrets.save("anna", "tokens", "hidden-token")
      await save(store, said("anna/a", "Hello"))
      const shown = [
        await everything(store, "anna/a"),
        await store.list({ search: "hidden-token" }),
        await store.list({ prefix: "anna" }),
        await store.waiting?.(),
        await store.search?.({ query: "hidden token", prefix: "anna" }),
        await store.memories?.list("anna"),
        await store.memories?.recall("anna", { query: "hidden token" })
      ]
      same("shown", JSON.stringify(shown).includes("hidden"), false)
      await store.delete("anna/a")
      same("after the deletion", await secrets.load("anna", "tokens"), "hidden-token")
    }
  ),
  secretLaw(make, "any text is an owner, a key and a secret, and an invalid one is refused", async (secrets) => {
    const odd = `"'%_\\ \0 \uD800 ünïcødé 日本 ${"x".repeat(5_000)}`
    await secrets.save(odd, odd, odd)
    same("the secret", await secrets.load(odd, odd), odd)
    same("the like", await secrets.load(odd, odd.slice(0, -1)), undefined)
    await secrets.save("anna", "", "")
    same("an empty one", await secrets.load("anna", ""), "")
    await refuses("an empty owner", "invalid_options", () => secrets.load("", "a"))
    await refuses("an owner that is no text", "invalid_options", () => secrets.delete(1 as never))
    await refuses("a text that is none", "invalid_options", () => secrets.save("anna", "a", 1 as never))
    await refuses("a long one", "invalid_options", () => secrets.save("anna", "a", "x".repeat(100_001)))
  })
]
