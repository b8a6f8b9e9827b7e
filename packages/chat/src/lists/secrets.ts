/**
 * The secrets of a store: their options, and a store in memory.
 *
 * SECRET1. A secret is a text of an owner and a key, such as the tokens of a sign-in. Only `load` with both returns it: no record, log, list
 *          or search has it.
 */
import { isText, refuse } from "./chatList.ts"

/** The most characters of a secret. */
const longestSecret = 100_000

/** Refuses a secret that cannot be stored. Throws a `ValidationError` (`invalid_options`). */
export const secretOptions = (owner: string, key: string, text?: string): void =>
  refuse([
    ["owner", !isText(owner) || owner === "", "must_be_a_text that is not empty"],
    ["key", !isText(key), "must_be_a_text"],
    [
      "text",
      text !== undefined && (!isText(text) || text.length > longestSecret),
      `must_be_a_text of at most ${longestSecret} characters`
    ]
  ])

/** Keeps secrets as long as the program runs. */
export class KeptSecrets {
  readonly #owners = new Map<string, Map<string, string>>()

  load(owner: string, key: string): string | undefined {
    secretOptions(owner, key)
    return this.#owners.get(owner)?.get(key)
  }

  save(owner: string, key: string, text: string | undefined): void {
    secretOptions(owner, key, text)
    const kept = this.#owners.get(owner) ?? new Map<string, string>()
    if (text === undefined) kept.delete(key)
    else this.#owners.set(owner, kept.set(key, text))
  }

  delete(owner: string): void {
    secretOptions(owner, "")
    this.#owners.delete(owner)
  }

  clear(): void {
    this.#owners.clear()
  }
}
