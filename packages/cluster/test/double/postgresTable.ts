/** A table of leases in a schema of its own. */
import { Clock } from "@troupe/otp"
import { openPlacementDatabase } from "../../src/engine/placementDatabase.ts"
import { preparePlacement } from "../../src/engine/placementSchema.ts"
import { postgresLeases } from "../../src/engine/postgresLeases.ts"

const made = { count: 0 }

/** The name of a new schema. */
export const freshSchema = (): string => `cluster_${process.pid}_${++made.count}`

/** Opens it. */
export const openTable = async (url: string, { schema = freshSchema(), leaseMs = 1_000, deadlineMs = 5_000 } = {}) => {
  const database = await openPlacementDatabase({ url, deadlineMs, clock: Clock.live })
  await preparePlacement(database, { schema })
  return { schema, database, table: postgresLeases(database, { schema, leaseMs }) }
}
