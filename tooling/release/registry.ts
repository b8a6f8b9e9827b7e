/**
 * Every public package, built, packed and published to a registry on loopback, as users of npm get them.
 *
 * ```ts
 * await withRegistry(async (registry) => {
 *   await run("npm", ["install", "@troupe/chat", "effect", "xstate", "zod"], folder, registry.env)
 * })
 * ```
 *
 * **Details**
 *
 * - The registry takes other packages from the one that npm is configured with, and keeps them until it ends.
 * - `env` is the whole environment of a program. npm, npx, pnpm and Bun install from the registry when they run with it. Their caches
 *   are in the folder of the registry, so a test neither finds nor leaves anything in those of the user.
 * - `pnpm registry` serves the packages until it is interrupted. `pnpm registry npm view @troupe/chat` runs one command beside it.
 * - When `TROUPE_REGISTRY` has the folder of a running registry, `withRegistry` uses it: the tests of a command that runs beside
 *   a registry neither build nor publish again.
 *
 * RELEASE1. When `withRegistry` returns or throws, or a signal ends its program, its server has ended and its folder is deleted. When
 * its process is killed, the server ends too.
 *
 * @module
 */
import { execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { packAll, type Tarball } from "../packed/tarball.ts"
import { cleaned, run } from "../packed/program.ts"

/** A registry that serves every public package. */
export interface Registry {
  /** Its address, which ends with a slash. */
  readonly url: string
  /** The environment of programs that install from it. */
  readonly env: NodeJS.ProcessEnv
  /** The public packages by name, with their versions. */
  readonly versions: Readonly<Record<string, string>>
}

/** The folder of a running registry. */
const running = "TROUPE_REGISTRY"

/** The file of a folder that has its {@link Registry}. */
const described = "registry.json"

/** Calls `use` with a registry that serves every public package. `onStep` receives what happens before, for progress. */
export const withRegistry = async <A>(
  use: (registry: Registry) => Promise<A>,
  onStep: (step: string) => void = () => undefined
): Promise<A> => {
  const given = process.env[running]
  if (given !== undefined) return use(JSON.parse(readFileSync(join(given, described), "utf8")) as Registry)
  return withFolder(async (folder) => {
    onStep("building and packing every package")
    const tarballs = await packAll(folder)
    return withServer(folder, async (url) => {
      onStep(`publishing ${tarballs.length} packages to ${url}`)
      return use(await publishAll(folder, url, tarballs))
    })
  })
}

/** Calls `use` with a temporary folder, which is deleted afterwards, or kept on demand. */
export const withFolder = async <A>(use: (folder: string) => Promise<A>, isKept = false): Promise<A> => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "troupe-registry-"))
  const clean = (): void => {
    if (isKept) process.stdout.write(`kept: ${folder}\n`)
    else rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  return cleaned(clean, () => use(folder))
}

/** Publishes tarballs to a server, and describes the registry in its folder. */
export const publishAll = async (folder: string, url: string, tarballs: ReadonlyArray<Tarball>): Promise<Registry> => {
  const env = environmentOf(folder, url)
  for (const { name, path } of tarballs) {
    const published = await run("npm", ["publish", path, "--provenance=false", "--access=public"], folder, env)
    if (!published.ok) throw new Error(`npm does not publish ${name}: ${published.output}`)
  }
  const versions = Object.fromEntries(tarballs.map(({ name, version }) => [name, version]))
  const registry: Registry = { url, env: { ...env, [running]: folder }, versions }
  writeFileSync(join(folder, described), JSON.stringify(registry))
  return registry
}

/** Calls `use` with the address of an empty registry whose files are in a folder. */
export const withServer = async <A>(folder: string, use: (url: string) => Promise<A>): Promise<A> => {
  const server = fork(join(import.meta.dirname, "registryServer.ts"), { stdio: ["ignore", "ignore", "inherit", "ipc"] })
  const ended = once(server, "exit")
  try {
    server.send(configurationOf(folder))
    const [answer] = (await Promise.race([once(server, "message"), ended])) as [AddressInfo | number | null]
    if (typeof answer !== "object" || answer === null) throw new Error("The registry ended before it listened")
    return await use(`http://127.0.0.1:${answer.port}/`)
  } finally {
    server.kill("SIGKILL")
    await ended
  }
}

/** What npm is configured with. */
interface NpmConfiguration {
  readonly registry: string
  readonly cafile?: string | null
  readonly proxy?: string | null
  readonly "https-proxy"?: string | null
}

const npmConfiguration = (): NpmConfiguration => {
  const text = execFileSync("npm", ["config", "list", "--json"], {
    encoding: "utf8",
    shell: process.platform === "win32"
  })
  return JSON.parse(text) as NpmConfiguration
}

/** Only our packages may be published; all others come from npm's own registry. */
const configurationOf = (folder: string): object => {
  const { registry, cafile, proxy, "https-proxy": httpsProxy } = npmConfiguration()
  const upstream = {
    url: registry,
    maxage: "60m",
    timeout: "120s",
    max_fails: 20,
    ...(typeof cafile === "string" && { ca: readFileSync(cafile, "utf8") }),
    ...(typeof proxy === "string" && { http_proxy: proxy }),
    ...(typeof httpsProxy === "string" && { https_proxy: httpsProxy })
  }
  const own = { access: "$all", publish: "$all", unpublish: "$all" }
  return {
    configPath: join(folder, "registry.yaml"),
    self_path: join(folder, "registry.yaml"),
    storage: join(folder, "packages"),
    uplinks: { upstream },
    packages: { "@troupe/*": own, "create-troupe": own, "**": { access: "$all", proxy: "upstream" } },
    auth: { htpasswd: { file: join(folder, "htpasswd"), max_users: -1 } },
    web: { enable: false },
    max_body_size: "100mb",
    server: { keepAliveTimeout: 60 },
    log: { type: "stdout", level: "fatal" }
  }
}

const environmentOf = (folder: string, url: string): NodeJS.ProcessEnv => {
  const home = join(folder, "home")
  mkdirSync(home, { recursive: true })
  const userconfig = join(home, ".npmrc")
  // npm publishes nothing without a token, which the registry does not read.
  writeFileSync(userconfig, `registry=${url}\n${url.replace(/^http:/, "")}:_authToken=loopback\n`)
  const own = Object.entries(process.env).filter(([name]) => !/^(npm|pnpm)_config_/i.test(name))
  return {
    ...Object.fromEntries(own),
    npm_config_userconfig: userconfig,
    npm_config_registry: url,
    npm_config_cache: join(home, "npm"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    pnpm_config_registry: url,
    pnpm_config_store_dir: join(home, "pnpm/store"),
    pnpm_config_cache_dir: join(home, "pnpm/cache"),
    // The packages were published a moment ago.
    pnpm_config_minimum_release_age: "0",
    BUN_CONFIG_REGISTRY: url,
    BUN_INSTALL_CACHE_DIR: join(home, "bun")
  }
}
