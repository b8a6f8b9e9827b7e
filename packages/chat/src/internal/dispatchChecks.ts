/** What a dispatcher's state and options may be; what may not is named by its path, with what is allowed there. */
import { type Finding, ValidationError } from "../ChatError.ts"
import type { DispatchOptions, DispatchState } from "../Dispatch.ts"
import { isMode, modes } from "../Permissions.ts"
import { hooks, permissions } from "./gateChecks.ts"

type Check = (value: unknown) => string | ReadonlyArray<Finding> | undefined

const amount: Check = (value) =>
  typeof value === "number" && !Number.isNaN(value) ? undefined : "must_be_a_number, or left out"

const checks: Readonly<Record<string, Check>> = {
  maxConcurrency: amount,
  toolTimeoutMs: amount,
  phase: (value) => (isMode(value) ? undefined : `must_be_one_of ${modes.join(", ")}`),
  permissions,
  hooks
}

/** Throws a `ValidationError` (`invalid_options`) that names every bad value. */
export const checkDispatch = (state: DispatchState, { schedule }: DispatchOptions): void => {
  const fields: Readonly<Record<string, unknown>> = { ...state }
  const found = Object.entries(checks).flatMap(([field, check]): ReadonlyArray<Finding> => {
    const value = fields[field]
    const wrong = value === undefined || value === null ? undefined : check(value)
    if (typeof wrong === "string") return [{ field: ["state", field], reason: wrong }]
    return (wrong ?? []).map(({ field: path, reason }) => ({ field: ["state", field, ...path], reason }))
  })
  if (schedule !== undefined && schedule !== "effects" && schedule !== "reference") {
    found.push({ field: ["schedule"], reason: "must_be_one_of effects, reference" })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}
