/** The leases of the nodes, as the database has them: also those of a node that is frozen or was killed. */
import { PgClient } from "@effect/sql-pg"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"

/** The leases of one node. */
export interface Leased {
  readonly address: string
  readonly buckets: number
  readonly epoch: number
  readonly chats: ReadonlyArray<string>
}

/** The reader, until it is closed. */
export interface PlacementReader {
  readonly read: () => Promise<ReadonlyArray<Leased>>
  readonly close: () => Promise<void>
}

/** A shard is a group of buckets that move together. Both numbers are in the table of the protocol. */
const query = `
  WITH numbers AS (
    SELECT (SELECT value::int FROM troupe.cluster_protocol WHERE name = 'buckets') AS buckets,
           (SELECT value::int FROM troupe.cluster_protocol WHERE name = 'shards') AS shards
  ), leases AS (
    SELECT address, shard, epoch FROM troupe.cluster_homes JOIN troupe.cluster_members USING (member)
    WHERE expires_at > clock_timestamp()
  ), placed AS (
    SELECT address, id FROM troupe.chats, numbers, leases WHERE leases.shard = chats.bucket % numbers.shards
  )
  SELECT address, count(*)::int * buckets / shards AS buckets, max(epoch)::text AS epoch,
    ARRAY(SELECT id FROM placed WHERE placed.address = leases.address ORDER BY id) AS chats
  FROM leases, numbers GROUP BY address, buckets, shards`

/** Opens a connection. The tables exist when a node has started. */
export const readPlacement = async (url: string): Promise<PlacementReader> => {
  const scope = Scope.makeUnsafe()
  const client = await Effect.runPromise(
    PgClient.make({ url: Redacted.make(url), maxConnections: 1 }).pipe(
      Scope.provide(scope),
      Effect.provide(Reactivity.layer),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  )
  return {
    read: async () => {
      const rows = await Effect.runPromise(client.unsafe<Readonly<Record<string, unknown>>>(query))
      return rows.map(({ address, buckets, epoch, chats }) => ({
        address: String(address),
        buckets: Number(buckets),
        epoch: Number(epoch),
        chats: (chats as ReadonlyArray<string>).map(idOf)
      }))
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** The id without its owner. */
const idOf = (id: string): string => id.slice(id.indexOf("/") + 1)
