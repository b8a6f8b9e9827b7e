/**
 * The package managers and runtimes beside npm and Node, each with the program of the README in a fresh folder.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { markdownExamples } from "../doctest/examples.ts"
import { readText, root } from "../house/workspace.ts"
import { failureOf, run } from "../packed/program.ts"
import { asserting } from "../packed/programs.ts"
import { writeJson } from "../packed/project.ts"

/** The file of the README's first program. */
export const readmeFile = "readme.js"

/** What the program of the README imports, with the peers. */
const packages = ["@troupe/chat", "@troupe/otp", "effect", "xstate", "zod"]

/** A program that runs a module. */
interface Runtime {
  readonly name: string
  readonly program: string
  readonly args: ReadonlyArray<string>
}

/** A program that installs packages, and what runs the program of its project. */
export interface Manager {
  readonly name: string
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly runtimes: ReadonlyArray<Runtime>
}

const fromNpm = (name: string): string => join(root, "examples/node_modules/.bin", name)

const node: Runtime = { name: "Node", program: process.execPath, args: [] }
const bun: Runtime = { name: "Bun", program: fromNpm("bun"), args: ["run"] }
const deno: Runtime = {
  name: "Deno",
  program: fromNpm("deno"),
  args: ["run", "--allow-all", "--no-lock", "--node-modules-dir=manual"]
}

/** npm's own project runs on every runtime, so that each reads the layout it most often gets. */
export const managers: ReadonlyArray<Manager> = [
  { name: "npm", program: "npm", args: ["install"], runtimes: [node, bun, deno] },
  { name: "pnpm", program: "npx", args: ["--yes", "pnpm@12", "add"], runtimes: [node] },
  { name: "Bun", program: fromNpm("bun"), args: ["add"], runtimes: [node, bun] }
]

/** Installs the packages of the README in a fresh folder, which has its program. */
export const installWith = async (
  { program, args }: Manager,
  folder: string,
  env: NodeJS.ProcessEnv
): Promise<ReadonlyArray<string>> => {
  const [example] = markdownExamples(readText("README.md"))
  if (example === undefined) return ["README.md has no program"]
  mkdirSync(folder)
  writeJson(folder, "package.json", { name: "fresh", type: "module", private: true })
  writeFileSync(join(folder, readmeFile), asserting(example.code))
  return failureOf(await run(program, [...args, ...packages], folder, env))
}
