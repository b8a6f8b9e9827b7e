/** Reads the usage an adapter reports. */
import { Usage } from "../model/index.ts"

const fields = Usage.unwrap().shape

/** What of it can be counted: a field of the wrong kind is left out. `undefined` for what is no object. */
export const reportedUsage = (reported: unknown): Usage | undefined => {
  if (typeof reported !== "object" || reported === null) return undefined
  try {
    if (Usage.safeParse(reported).success) return reported
    return Object.fromEntries(Object.entries(reported).filter(([field, value]) => fits(field, value)))
  } catch {
    return undefined
  }
}

const fits = (field: string, value: unknown): boolean =>
  !Object.hasOwn(fields, field) || fields[field as keyof typeof fields].safeParse(value).success
