/** A database whose driver is loaded on first use, so that programs with another store do not load it. */
import type { Asking, Database, Dialect } from "../sql/index.ts"

export class LazyDatabase implements Database {
  readonly name: string
  readonly dialect: Dialect
  readonly #load: () => Promise<Database>
  #loading: Promise<Database> | undefined

  constructor(name: string, dialect: Dialect, load: () => Promise<Database>) {
    this.name = name
    this.dialect = dialect
    this.#load = load
  }

  async read<A>(ask: () => Asking<A>): Promise<A> {
    return (await this.#loaded()).read(ask)
  }

  async write<A>(ask: () => Asking<A>): Promise<A> {
    return (await this.#loaded()).write(ask)
  }

  async atOnce<A>(ask: () => Asking<A | undefined>, otherwise: () => Asking<A>): Promise<A> {
    const database = await this.#loaded()
    return database.atOnce === undefined ? database.write(otherwise) : database.atOnce(ask, otherwise)
  }

  async close(): Promise<void> {
    await (await this.#loading)?.close()
  }

  #loaded(): Promise<Database> {
    this.#loading ??= this.#load()
    return this.#loading
  }
}
