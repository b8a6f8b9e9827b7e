/** Where batches of calls differ from the cases on purpose, and cases of old versions from everything. */
import { fieldsOf, listOf } from "../chat/caseFile.ts"
import type { DispatchCase } from "./caseFile.ts"
import type { Deviation } from "./operation.ts"

const idsIn = ({ recorded, when }: DispatchCase): ReadonlyArray<unknown> =>
  listOf(recorded["calls"] ?? when["runBatch"]).map((call) => fieldsOf(call)["id"])

const expectsDeath = ({ expected }: DispatchCase): boolean =>
  expected["kind"] === "caller-process-killed" || expected["outcome"] === "the process that called run dies"

export const parallelDeviations: ReadonlyArray<Deviation> = [
  {
    decision: "results",
    because: "a result stands in its call's position, whatever the ids are",
    explains: ({ path }, one) => path.startsWith("results.") && new Set(idsIn(one)).size < idsIn(one).length
  },
  {
    decision: "crashes",
    because: "a read that crashes is an error result, and its siblings go on: nobody is linked to it",
    explains: ({ path }, one) => expectsDeath(one) && /^(kind|outcome|reason|trace|killed)/.test(path)
  },
  {
    decision: "version",
    because: "only an old version does so; the newest is followed",
    explains: (_, { version }) => version !== undefined && /^(only )?0\.4\.2( only)?$/.test(version)
  }
]
