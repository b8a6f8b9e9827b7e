/** Statements for a PostgreSQL database, beside the store. */
import { PgClient } from "@effect/sql-pg"
import * as Effect from "effect/Effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"

/** Asks them one after another on one connection; the rows of the last. */
export const queries = (
  url: string,
  statements: ReadonlyArray<string>
): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> =>
  Effect.gen(function* () {
    const client = yield* PgClient.makeClient({ url: Redacted.make(url) })
    let rows: ReadonlyArray<Readonly<Record<string, unknown>>> = []
    for (const statement of statements) rows = yield* client.unsafe<Readonly<Record<string, unknown>>>(statement)
    return rows
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer), Effect.runPromise)
