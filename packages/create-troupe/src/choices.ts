/**
 * What a user can choose: the templates, and the options of each.
 *
 * @module
 */

/** The lists of values that the options take. The first value of a list is its default. */
export const lists = {
  template: ["terminal", "server", "next", "react", "team", "otp", "cluster"],
  provider: ["scripted", "openai", "anthropic", "google"],
  store: ["memory", "sqlite", "postgres"],
  manager: ["npm", "pnpm", "bun"]
} as const

/** The name of an option with a list of values. */
export type ListName = keyof typeof lists

/** What a project is for. */
export type Template = (typeof lists.template)[number]

/** A package manager. */
export type Manager = (typeof lists.manager)[number]

/** The values of a project's options. An option that its template does not have is ignored. */
export interface Choices {
  /** What the project is for. */
  readonly template: Template
  /** Whose model answers. */
  readonly provider: (typeof lists.provider)[number]
  /** Where conversations are kept. */
  readonly store: (typeof lists.store)[number]
  /** The package manager of the project's README. */
  readonly manager: Manager
}

/** The title of each value, as a question shows it. */
export const titles: { readonly [Name in ListName]: Readonly<Record<Choices[Name], string>> } = {
  template: {
    terminal: "An agent in the terminal",
    server: "A chat server with Hono",
    next: "A chat in Next.js, with the AI SDK's useChat",
    react: "A chat in a React page, without a server",
    team: "A team of agents in the terminal",
    otp: "A service of supervised processes, without a model",
    cluster: "Chats on a cluster, with a compose file"
  },
  provider: {
    scripted: "A scripted model, which needs no key",
    openai: "OpenAI",
    anthropic: "Anthropic",
    google: "Google"
  },
  store: {
    memory: "In memory, until the program ends",
    sqlite: "In a file of SQLite",
    postgres: "In PostgreSQL"
  },
  manager: { npm: "npm", pnpm: "pnpm", bun: "Bun" }
}

/** The parts of a template. */
interface Parts {
  /** The folders of `templates` that the project takes, beside that of the template. */
  readonly shared: ReadonlyArray<string>
  /** The options that the template has. */
  readonly options: ReadonlyArray<"provider" | "store">
}

/** The parts of each template. */
export const parts: Readonly<Record<Template, Parts>> = {
  terminal: { shared: ["agent", "chat"], options: ["provider", "store"] },
  server: { shared: ["agent", "chat"], options: ["provider", "store"] },
  next: { shared: ["agent", "chat"], options: ["provider", "store"] },
  // A page cannot keep a key, and has no database.
  react: { shared: ["agent", "chat", "provider/scripted"], options: [] },
  team: { shared: ["chat"], options: ["provider", "store"] },
  otp: { shared: [], options: [] },
  cluster: { shared: ["agent", "chat"], options: ["provider"] }
}

/** The folders of `templates` that make a project. A file of an earlier folder takes precedence. */
export const layersOf = (choices: Choices): ReadonlyArray<string> => {
  const { shared, options } = parts[choices.template]
  return [choices.template, ...options.map((name) => `${name}/${choices[name]}`), ...shared, "base"]
}
