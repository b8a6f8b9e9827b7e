/**
 * An index of conversations by id and by the beginning of the id.
 *
 * Owns: the entries, once by id and once by the part of the id up to its first slash, which on a server is the owner's
 * name.
 *
 * BYID1. A search for a prefix with a slash visits only entries with the same part up to the first slash, whatever the size
 *        of the index.
 */

/** An index by id. */
export class PrefixIndex<Log> {
  readonly #byId = new Map<string, Log>()
  readonly #byPart = new Map<string, Map<string, Log>>()

  get(id: string): Log | undefined {
    return this.#byId.get(id)
  }

  has(id: string): boolean {
    return this.#byId.has(id)
  }

  set(id: string, log: Log): void {
    this.#byId.set(id, log)
    const part = firstPart(id)
    const logs = this.#byPart.get(part)
    if (logs === undefined) this.#byPart.set(part, new Map([[id, log]]))
    else logs.set(id, log)
  }

  delete(id: string): void {
    this.#byId.delete(id)
    const part = firstPart(id)
    const logs = this.#byPart.get(part)
    logs?.delete(id)
    if (logs?.size === 0) this.#byPart.delete(part)
  }

  clear(): void {
    this.#byId.clear()
    this.#byPart.clear()
  }

  /** The entries whose ids begin with the prefix (BYID1). */
  *of(prefix: string): Generator<readonly [id: string, log: Log], void> {
    const part = firstPart(prefix)
    const logs = part === "" ? this.#byId : (this.#byPart.get(part) ?? new Map<string, Log>())
    for (const entry of logs) if (entry[0].startsWith(prefix)) yield entry
  }
}

const firstPart = (id: string): string => id.slice(0, id.indexOf("/") + 1)
