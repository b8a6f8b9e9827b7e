/** The environment variables that an isolated function sees unless its tool says otherwise. */

const passed: ReadonlySet<string> = new Set([
  // Where programs, files and languages are found.
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
  // Without these Windows starts no program.
  "SYSTEMROOT",
  "SYSTEMDRIVE",
  "WINDIR",
  "COMSPEC",
  "PATHEXT",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA"
])

/** Of the program's variables the short list above and `LC_*`, in which nobody keeps a secret. */
export const defaultEnvironment = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && (passed.has(entry[0].toUpperCase()) || entry[0].startsWith("LC_"))
    )
  )
