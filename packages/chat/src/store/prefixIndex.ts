/**
 * What is kept by the ids of conversations, and found by what the ids begin with.
 *
 * Owns: the entries, once by id and once by the part of the id that ends with its first slash: a server puts an owner's name there.
 *
 * BYID1. To find the entries of a prefix that has a slash costs what has the same part before it, however many others there are.
 */

/** Everything by its id. */
export class LogsById<Log> {
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

  /** Those whose ids begin with the prefix (BYID1). */
  *of(prefix: string): Generator<readonly [id: string, log: Log], void> {
    const part = firstPart(prefix)
    const logs = part === "" ? this.#byId : (this.#byPart.get(part) ?? new Map<string, Log>())
    for (const entry of logs) if (entry[0].startsWith(prefix)) yield entry
  }
}

const firstPart = (id: string): string => id.slice(0, id.indexOf("/") + 1)
