/** The formats of JSON Schema that are checked on request; any other format is an annotation. */
import * as z from "zod"
import type { Check } from "./check.ts"
import type { Compiler } from "./keyword.ts"

const formats: Readonly<Record<string, z.ZodType>> = {
  date: z.iso.date(),
  "date-time": z.iso.datetime({ offset: true }),
  duration: z.iso.duration(),
  email: z.email(),
  hostname: z.hostname(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  time: z.iso.time(),
  uri: z.url(),
  uuid: z.guid()
}

export const formatKeyword = {
  make: (argument: unknown, _: unknown, { hasFormats }: Compiler): Check | undefined => {
    const format =
      hasFormats && typeof argument === "string" && Object.hasOwn(formats, argument) ? formats[argument] : undefined
    if (format === undefined) return undefined
    return (value, at, run) =>
      typeof value !== "string" ||
      format.safeParse(value).success ||
      run.fail(at, `must be in the format ${String(argument)}`)
  }
}
