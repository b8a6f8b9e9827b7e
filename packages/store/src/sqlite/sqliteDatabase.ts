/**
 * An SQLite database in this process.
 *
 * Owns: the connection, its statements, and the queued writes. Does not own the rows.
 *
 * SQLITE1. The writes of one turn of the event loop are one transaction: many chats wait for one write to the disk.
 * SQLITE2. A write resolves after its transaction is committed.
 * SQLITE3. A write that is refused or fails changes nothing, and the others of its transaction are committed.
 * SQLITE4. A read sees every write that was requested before it.
 */
import { setImmediate } from "node:timers"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { Asking, Database, Query, Row } from "../sql/index.ts"
import { sqliteFailure } from "./sqliteFailure.ts"
import { sqliteDialect } from "./sqliteSchema.ts"

/** A queued write: it runs in the transaction, and its callback after the commit. */
interface Waiting {
  readonly perform: () => () => void
  readonly fail: (error: unknown) => void
}

export class SqliteDatabase implements Database {
  readonly name: string
  readonly dialect = sqliteDialect
  readonly #connection: DatabaseSync
  readonly #failure: (error: unknown) => unknown
  readonly #statements = new Map<string, StatementSync>()
  #waiting: Array<Waiting> = []

  constructor(path: string, connection: DatabaseSync) {
    this.name = path
    this.#connection = connection
    this.#failure = sqliteFailure(path)
  }

  /** SQLITE4 */
  read<A>(ask: () => Asking<A>): A {
    this.#flush()
    return this.#transaction("BEGIN", ask)
  }

  #transaction<A>(begin: string, ask: () => Asking<A>): A {
    try {
      this.#run(begin)
      const answer = this.#drive(ask())
      this.#run("COMMIT")
      return answer
    } catch (error) {
      this.#rollBack()
      throw this.#failure(error)
    }
  }

  /** Runs in a transaction of its own, synchronously. */
  writeNow<A>(ask: () => Asking<A>): A {
    return this.#transaction("BEGIN IMMEDIATE", ask)
  }

  write<A>(ask: () => Asking<A>): Promise<A> {
    const { promise, resolve, reject } = Promise.withResolvers<A>()
    if (this.#waiting.length === 0) setImmediate(() => this.#flush())
    this.#waiting.push({
      perform: () => {
        const answer = this.#drive(ask())
        return () => resolve(answer)
      },
      fail: reject
    })
    return promise
  }

  close(): void {
    this.#flush()
    this.#connection.close()
  }

  /** SQLITE1, SQLITE2 */
  #flush(): void {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    try {
      this.#run("BEGIN IMMEDIATE")
      const settled = waiting.map((one) => this.#apart(one))
      this.#run("COMMIT")
      for (const settle of settled) settle()
    } catch (error) {
      this.#rollBack()
      const failure = this.#failure(error)
      for (const { fail } of waiting) fail(failure)
    }
  }

  /**
   * SQLITE3, except when the error ended the whole transaction, as a full disk does, or when a damaged file fails the
   * release of the savepoint: then there is no savepoint to roll back to.
   */
  #apart({ perform, fail }: Waiting): () => void {
    this.#run("SAVEPOINT one")
    let settle: () => void
    try {
      settle = perform()
    } catch (error) {
      if (!this.#connection.isTransaction) throw error
      this.#run("ROLLBACK TO one")
      const failure = this.#failure(error)
      settle = () => fail(failure)
    }
    this.#run("RELEASE one")
    return settle
  }

  #rollBack(): void {
    if (this.#connection.isOpen && this.#connection.isTransaction) this.#run("ROLLBACK")
  }

  #drive<A>(asking: Asking<A>): A {
    let step = asking.next()
    while (step.done !== true) step = asking.next(this.#rows(step.value))
    return step.value
  }

  #rows({ sql, params }: Query): ReadonlyArray<Row> {
    return this.#statement(sql).all(...(params as ReadonlyArray<string | number | null | Uint8Array>))
  }

  #run(sql: string): void {
    this.#statement(sql).run()
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#connection.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
