/** Formats numbers: short, and in digits of one width. */

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })
const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23"
})
const day = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" })

/** `12,345` */
export const count = (value: number): string => grouped.format(value)

/** `12.3K` */
export const compact = (value: number): string => short.format(value)

/** `1 message`, `2 messages` */
export const plural = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? "" : "s"}`

/** `840 B`, `12.3 kB`, `4.5 MB` */
export const bytes = (value: number): string =>
  value < 1000 ? `${value} B` : value < 1_000_000 ? `${(value / 1000).toFixed(1)} kB` : `${(value / 1e6).toFixed(1)} MB`

/** `340 ms`, `1.24 s`, `2 min 5 s` */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** A mark on an axis: `500 ms`, `2.5 s`. */
export const mark = (ms: number): string => (ms === 0 ? "0" : ms < 1000 ? `${ms} ms` : `${ms / 1000} s`)

/** `$0.0042`, `$1.25` */
export const money = (amount: number): string => `$${amount.toFixed(amount < 0.01 ? 5 : amount < 1 ? 4 : 2)}`

/** `14:03:27`, in the reader's time zone. */
export const timeOfDay = (at: number): string => clock.format(at)

export const dayAndTime = (at: number): string => day.format(at)

/** `now`, `4 min`, `3 h`, `2 d` */
export const age = (ms: number): string => {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return "now"
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}

/** `timed out` for `timed_out` */
export const words = (name: string): string => name.replaceAll("_", " ")

/** A value as JSON, indented. */
export const json = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** The name by which agents call the agent of a chat: the short id of a sub-agent, or `parent`. */
export const nameOfAgent = (chat: string): string => {
  const own = chat.slice(chat.lastIndexOf("/~/") + 3)
  return chat.includes("/~/") ? own.replace(/-(\w{8})\w*$/u, "-$1") : "parent"
}

/** The message of an error. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))
