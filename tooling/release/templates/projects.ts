/**
 * The projects that are created: every template, every package manager and provider, and every store that needs no server.
 *
 * @module
 */
import type { Options } from "./project.ts"
import { cluster, next, otp, react, server, team, terminal, type Visit } from "./visits.ts"

/** The template of the timed project. */
export const first = "terminal"

/** A project, and what is done with it. */
export interface Project {
  readonly name: string
  readonly options: Options
  /** The scripts that run to their end, in this order. */
  readonly scripts: ReadonlyArray<string>
  readonly visit: Visit
}

const checks = ["test", "typecheck", "lint"]

const project = (template: string, visit: Visit, options: Partial<Options> = {}, ...build: Array<string>): Project => ({
  name: template,
  options: { template, manager: "npm", ...options },
  scripts: [...checks, ...build],
  visit
})

/** The slowest come first. */
export const projects: ReadonlyArray<Project> = [
  project("next", next, {}, "build"),
  project("react", react, {}, "build"),
  project("server", server("conversations.db"), { manager: "pnpm", provider: "openai", store: "sqlite" }),
  project("team", team, { manager: "bun", provider: "google" }),
  project("cluster", cluster, { provider: "anthropic" }),
  project("terminal", terminal),
  project("otp", otp)
]
