/**
 * What the packages weigh for a program: bytes, packages, and the processor time until its first token.
 *
 * WEIGHT1. The bytes, the packages and the time stay within the bounds of this file.
 *
 * @module
 */
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { failureOf, run } from "../packed/program.ts"
import { writeJson } from "../packed/project.ts"
import type { Tarball } from "../packed/tarball.ts"
import { versionOf } from "../packed/versions.ts"

/** Of all unpacked packages together. */
export const maxBytes = 9_000_000

/** Of a page with chats: ours, the peers, and what they need. */
export const maxPackages = 12

/** The processor time until the first token, as a multiple of that of `ai` with the same model. */
export const maxRatio = 1.7

/** The most on a busy machine: beside other programs the same packages take 1.5 to 1.9 times the time of ai. */
export const busyRatio = 2

/** How often each program is started. The median counts, because other programs take caches away. */
const rounds = 9

const print = (line: string): void => void process.stdout.write(`         ${line}\n`)

/** Compares a measured number with its bound, and prints it. */
const within = (what: string, measured: number, bound: number): ReadonlyArray<string> => {
  print(`${what}: ${measured} of ${bound}`)
  return measured <= bound ? [] : [`${what}: ${measured} are more than ${bound}`]
}

/** The bytes of the unpacked packages. */
export const byteProblems = (tarballs: ReadonlyArray<Tarball>): ReadonlyArray<string> => {
  const bytes = tarballs.map(({ name, content }) => {
    const files = globSync("**", { cwd: content, withFileTypes: true }).filter((entry) => entry.isFile())
    const sum = files.reduce((all, file) => all + statSync(join(file.parentPath, file.name)).size, 0)
    print(`${name}: ${sum} bytes in ${files.length} files`)
    return sum
  })
  return within(
    "bytes",
    bytes.reduce((all, one) => all + one, 0),
    maxBytes
  )
}

const installed = async (
  folder: string,
  packages: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv
): Promise<ReadonlyArray<string>> => {
  mkdirSync(folder)
  writeJson(folder, "package.json", { name: "fresh", type: "module", private: true })
  return failureOf(await run("npm", ["install", ...packages], folder, env))
}

/** The packages that npm installs for chats in a page, with all peers. */
export const packageProblems = async (folder: string, env: NodeJS.ProcessEnv): Promise<ReadonlyArray<string>> => {
  const packages = ["@troupe/chat", "@troupe/react", "effect", "xstate", "zod", "react"]
  const failed = await installed(folder, packages, env)
  if (failed.length > 0) return failed
  const lock = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, unknown>>
  }
  return within("packages", Object.keys(lock.packages).length, maxPackages)
}

/** A model of the AI SDK that answers at once. */
const model = `const finish = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 }
  }
}
const parts = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Hello" },
  { type: "text-end", id: "1" },
  finish
]
export const model = {
  specificationVersion: "v4",
  provider: "test",
  modelId: "test",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("It only streams")),
  doStream: () => Promise.resolve({ stream: ReadableStream.from(parts) })
}
`

/** Ends the program with the processor time that it took so far, in milliseconds. */
const report = `const { user, system } = process.cpuUsage()
console.log((user + system) / 1000)
process.exit()
`

const programs = {
  ai: `import { streamText } from "ai"
import { model } from "./model.js"
for await (const _ of streamText({ model, prompt: "Hi" }).textStream) break
${report}`,
  troupe: `import { Troupe } from "@troupe/chat"
import { aiSdk } from "@troupe/providers"
import { model } from "./model.js"
const troupe = await Troupe.start({ adapter: aiSdk(model) })
const chat = await troupe.chat("first")
for await (const event of chat.send("Hi")) if (event.type === "text_delta") break
${report}`
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** The processor time until the first token, beside that of `ai`; both are started in turn. */
export const firstTokenProblems = async (folder: string, env: NodeJS.ProcessEnv): Promise<ReadonlyArray<string>> => {
  const packages = ["@troupe/chat", "@troupe/providers", "effect", "xstate", "zod", `ai@${versionOf("ai")}`]
  const failed = await installed(folder, packages, env)
  if (failed.length > 0) return failed
  writeFileSync(join(folder, "model.js"), model)
  const times: Record<keyof typeof programs, Array<number>> = { ai: [], troupe: [] }
  for (const name of ["ai", "troupe"] as const) writeFileSync(join(folder, `${name}.js`), programs[name])
  for (let round = 0; round <= rounds; round++) {
    for (const name of ["ai", "troupe"] as const) {
      const { ok, output, stdout } = await run(process.execPath, [`${name}.js`], folder, env)
      if (!ok) return [output]
      // The first start fills the caches of the system.
      if (round > 0) times[name].push(Number(stdout))
    }
  }
  const [own, other] = [median(times.troupe), median(times.ai)]
  print(`first token: ${own.toFixed(0)} ms of processor time, ai ${other.toFixed(0)} ms`)
  print(`the bound of the ratio on a quiet machine: ${maxRatio}`)
  return within("the ratio", Number((own / other).toFixed(2)), busyRatio)
}
