/**
 * The allowed imports of each package: the table, and the check of one import.
 *
 * **Details**: dependencies point one way, `otp ← chat ← {testing, providers, isolate, skills, store, server}` `{store, server} ← cluster` and `server ← {react, mcp}`. A new package starts with a row here. A package also lists the peers of its dependencies, whether it may import
 * them or not.
 *
 * @module
 */

/** One package's row. */
export interface ImportRow {
  /** Our own packages it may import, by short name. */
  readonly ours: ReadonlyArray<string>
  /** Foreign packages it may import. */
  readonly foreign: ReadonlyArray<string>
  /** The files that may import `node:*`: all, none, or those below these paths of its `src`. */
  readonly node: "all" | "none" | ReadonlyArray<string>
}

/** The rows of the libraries. */
export const importTable: Readonly<Record<string, ImportRow>> = {
  otp: { ours: [], foreign: ["effect", "xstate"], node: "none" },
  chat: {
    ours: ["otp"],
    foreign: ["effect", "xstate", "zod", "@standard-schema/spec", "minisearch", "re2js"],
    node: "none"
  },
  providers: {
    ours: ["otp", "chat"],
    // The types of the AI SDK import those of JSON Schema, and do not declare them.
    foreign: ["effect", "xstate", "zod", "@ai-sdk/provider", "@types/json-schema"],
    node: "none"
  },
  mcp: {
    ours: ["otp", "chat", "server"],
    foreign: ["effect", "zod", "@modelcontextprotocol/client", "@modelcontextprotocol/server"],
    node: ["command/"]
  },
  testing: { ours: ["otp", "chat"], foreign: ["effect", "zod"], node: "none" },
  skills: { ours: ["otp", "chat"], foreign: ["yaml", "zod"], node: "all" },
  isolate: { ours: ["otp", "chat"], foreign: ["effect", "zod"], node: "all" },
  store: { ours: ["otp", "chat"], foreign: ["effect", "xstate", "zod", "@effect/sql-pg"], node: "all" },
  server: { ours: ["otp", "chat"], foreign: ["effect", "xstate", "zod"], node: ["node/"] },
  cluster: {
    ours: ["otp", "chat", "store", "server"],
    foreign: ["effect", "xstate", "zod", "@effect/sql-pg"],
    node: "all"
  },
  react: { ours: ["otp", "chat", "server"], foreign: ["effect", "xstate", "react", "elkjs", "marked"], node: "none" },
  "create-troupe": { ours: [], foreign: ["@clack/prompts"], node: "all" }
}

/** The peers whose exact version a library needs: every module of `effect/cluster` is unstable. */
export const exactPeers: Readonly<Record<string, ReadonlyArray<string>>> = { cluster: ["effect"] }

/** The row of every app: only apps choose a provider and a store, so they may import any foreign package. */
export const appRow: Omit<ImportRow, "foreign"> = { ours: [...Object.keys(importTable), "scripted"], node: "all" }

/** The package a bare import names: `@troupe/otp` for `@troupe/otp/clock`. */
export const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

/** The short name of one of our packages, or nothing for a foreign one. */
export const oursOf = (packageName: string): string | undefined =>
  packageName.startsWith("@troupe/") ? packageName.slice("@troupe/".length) : undefined

/** Whether a row allows a file of the package's `src` to import `node:*`. */
export const mayTouchNode = (row: Pick<ImportRow, "node">, pathInSrc: string): boolean =>
  row.node === "all" || (row.node !== "none" && row.node.some((allowed) => pathInSrc.startsWith(allowed)))
