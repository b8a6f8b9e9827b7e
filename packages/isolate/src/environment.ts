/** The environment variables that an isolated function sees by default. */
import { placeNodeOptions } from "./placeFlags.ts"

const passed: ReadonlySet<string> = new Set([
  // Search paths and languages.
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "TMP",
  "TEMP",
  // How Node runs.
  "NODE_ENV",
  "NODE_OPTIONS",
  "NODE_COMPILE_CACHE",
  // Windows cannot start a program without these.
  "SYSTEMROOT",
  "SYSTEMDRIVE",
  "WINDIR",
  "COMSPEC",
  "PATHEXT",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA"
])

/** The program's variables of the list above and `LC_*`, which hold no secrets. `NODE_OPTIONS` has only flags for a place (FLAG1). */
export const defaultEnvironment = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => {
      const isPassed = passed.has(name.toUpperCase()) || name.startsWith("LC_")
      if (value === undefined || !isPassed) return []
      return [[name, name.toUpperCase() === "NODE_OPTIONS" ? placeNodeOptions(value) : value]]
    })
  )
