/** Reads the usage an adapter reports. */
import { Usage } from "../model/index.ts"

/**
 * The valid fields of a usage report; fields of the wrong type are left out. `undefined` for a value that is no object.
 */
export const reportedUsage = (reported: unknown): Usage | undefined => {
  if (typeof reported !== "object" || reported === null) return undefined
  try {
    if (Usage.safeParse(reported).success) return reported
    return Object.fromEntries(Object.entries(reported).filter(([field, value]) => fits(field, value)))
  } catch {
    return undefined
  }
}

const fits = (field: string, value: unknown): boolean => Usage.safeParse({ [field]: value }).success

/** Whether a usage has a cost. */
export const hasCost = ({ inputCost, outputCost, totalCost }: Usage): boolean =>
  (totalCost ?? inputCost ?? outputCost) !== undefined
