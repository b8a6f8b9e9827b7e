/**
 * The rooms of each package: the folders of its `src`, from the ground up.
 *
 * **Details**: each inner list is a floor. A room imports only rooms of lower floors. Files at the top of `src` are the
 * package's doors: they may import every room, and no room imports them. A nested folder is a room of its own.
 *
 * @module
 */

/** The floors of one package, ground floor first. */
export type Floors = ReadonlyArray<ReadonlyArray<string>>

/** The floors of the packages and apps, by folder. A package whose `src` is one flat room has no row. */
export const roomTable: Readonly<Record<string, Floors>> = {
  "packages/otp": [
    ["core", "time", "machine/chart"],
    ["kernel"],
    ["process", "system"],
    ["machine", "server"],
    ["supervisor", "observe/shown"],
    ["application", "observe", "registry", "task"]
  ],
  "packages/chat": [
    ["errors", "chart"],
    ["async", "json"],
    ["model"],
    ["record"],
    ["events", "policy", "tool"],
    ["gate", "request"],
    ["call"],
    ["batch", "options"],
    ["dispatch", "step"],
    ["inbox", "store"],
    ["loop"],
    ["session", "view"],
    ["codec", "living"],
    ["effect", "observe"],
    ["testing/faults", "testing/replay", "testing/stores"],
    ["testing"]
  ],
  "packages/providers": [["aiSdk", "mcp"]],
  "packages/store": [["sql"], ["postgres", "sqlite"]],
  "packages/server": [
    ["errors"],
    ["access"],
    ["http"],
    ["wire"],
    ["wire/agUi", "wire/aiSdk", "wire/openAi"],
    ["link"],
    ["client", "routes"],
    ["server"],
    ["node"]
  ],
  "packages/react": [
    ["hooks", "observer/css"],
    ["observer/parts"],
    ["observer/chart", "observer/log", "observer/timeline", "observer/tree"],
    ["observer"]
  ],
  "apps/cli": [["options"], ["model", "tools"], ["output"], ["chat", "observe"]],
  "apps/playground": [["host", "page"]]
}
