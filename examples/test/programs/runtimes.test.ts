import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { build } from "esbuild"
import { Miniflare } from "miniflare"
import { afterEach, expect, it } from "vitest"
import { answers, streams, survivesDisconnects } from "../double/visits.ts"

const folder = join(import.meta.dirname, "../..")
const bin = (name: string): string => join(folder, "node_modules/.bin", name)

const ends: Array<() => unknown> = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Starts a program, and resolves with the address that it prints. */
const printed = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let output = ""
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      const url = /http:\/\/127\.0\.0\.1:\d+/u.exec(output)?.[0]
      if (url !== undefined) resolve(url)
    }
    child.stdout?.on("data", read)
    child.stderr?.on("data", (chunk: Buffer) => void (output += chunk.toString()))
    child.once("close", (code) => reject(new Error(`the program ended with ${code}: ${output}`)))
    child.once("error", reject)
  })

const started = (program: string, ...args: ReadonlyArray<string>): Promise<string> => {
  const child = spawn(bin(program), args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], detached: true })
  ends.push(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL")
  })
  return printed(child)
}

const serves = async (base: string, name: string, isNoticed = true): Promise<void> => {
  await answers(base, name)
  await streams(base, name)
  await survivesDisconnects(base, name, isNoticed)
}

it("Bun answers, streams and survives disconnects", async () => {
  await expect(serves(`${await started("bun", "src/bun.ts")}/chat`, "bun")).resolves.toBeUndefined()
})

it("Deno answers, streams and survives disconnects", async () => {
  await expect(
    serves(`${await started("deno", "run", "--allow-all", "src/deno.ts")}/chat`, "deno")
  ).resolves.toBeUndefined()
})

/** The worker as one script. */
const bundled = async (entry: string): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: join(folder, "src"), loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "esnext"
  })
  return outputFiles[0]?.text ?? ""
}

it("a Durable Object answers, streams and survives disconnects", async () => {
  const script = await bundled('export { Chats, default } from "./durableObject.ts"')
  const worker = new Miniflare({
    modules: true,
    script,
    compatibilityDate: "2026-06-01",
    durableObjects: { CHATS: "Chats" }
  })
  ends.push(() => worker.dispose())
  const url = String(await worker.ready)
  await expect(serves(`${url.replace(/\/$/u, "")}/chat`, "durable object", false)).resolves.toBeUndefined()
})

it("a Troupe of a worker's module does not serve a second request", async () => {
  const script = await bundled(`
    import { chats } from "./chats.ts"
    export default { fetch: async (request: Request) => (await chats("/chat")).fetch(request) }
  `)
  const worker = new Miniflare({ modules: true, script, compatibilityDate: "2026-06-01" })
  ends.push(() => worker.dispose())
  const base = `${String(await worker.ready).replace(/\/$/u, "")}/chat`
  await answers(base, "worker").catch(() => undefined)
  await expect(streams(base, "worker")).rejects.toThrow()
})
