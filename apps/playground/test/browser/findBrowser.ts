/**
 * The browser of the browser tests: which one is installed, and what to do when there is none.
 *
 * **Details**: `CHROMIUM_PATH` comes first, then a Chromium or Chrome on the `PATH`, then Playwright's channels (Chrome, Edge,
 * and the Chromium that Playwright itself installs). A candidate counts when it starts.
 */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { chromium, type LaunchOptions } from "playwright-core"

/** How a browser is started: plain data, since it travels to the test files. */
export type BrowserPlace = Pick<LaunchOptions, "channel" | "executablePath">

/** The command that installs a browser on every platform. */
export const installCommand = "npx pnpm@12 --filter @troupe/playground exec playwright-core install chromium"

const names = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "microsoft-edge"
]
const channels = ["chrome", "msedge", "chromium"]
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** The environment variables that decide which browser runs, and whether a missing one is an error. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Starts a browser at a place. */
export const launch = (place: BrowserPlace) => chromium.launch({ ...place, args: flags })

/** The places where a browser may be, the first choice first. With `CHROMIUM_PATH` there is no other choice. */
export const placesOf = (env: Environment): ReadonlyArray<BrowserPlace> => {
  const named = env["CHROMIUM_PATH"]
  if (named !== undefined && named !== "") return [{ executablePath: named }]
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "")
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).filter((path) => existsSync(path))
  return [...found.map((executablePath) => ({ executablePath })), ...channels.map((channel) => ({ channel }))]
}

/** Whether a missing browser fails the run: `CI` is set, and is not empty, `0` or `false`. */
const isRequired = ({ CI = "" }: Environment): boolean => !["", "0", "false"].includes(CI.toLowerCase())

const starts = async (place: BrowserPlace): Promise<boolean> => {
  try {
    await (await launch(place)).close()
    return true
  } catch {
    return false
  }
}

const firstThatStarts = async (places: ReadonlyArray<BrowserPlace>): Promise<BrowserPlace | undefined> => {
  for (const place of places) if (await starts(place)) return place
  return undefined
}

/** Installs the distribution's Chromium without windows as root, where `apt-get` exists. Returns whether it was installed. */
const installWithApt = (env: Environment): boolean => {
  if (process.getuid?.() !== 0) return false
  const run = (...args: ReadonlyArray<string>) =>
    execFileSync("apt-get", args, {
      env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", 2]
    })
  try {
    run("update", "-qq")
    run("install", "-y", "-qq", "--no-install-recommends", "chromium-headless-shell")
    return true
  } catch {
    return false
  }
}

/** What the search for a browser needs from the machine. A test gives its own. */
export interface Machine {
  readonly env: Environment
  readonly find: (places: ReadonlyArray<BrowserPlace>) => Promise<BrowserPlace | undefined>
  readonly install: (env: Environment) => boolean
}

const thisMachine: Machine = { env: process.env, find: firstThatStarts, install: installWithApt }

/**
 * The first browser that starts; where there is none, the distribution's is installed (as root, with `apt-get`).
 *
 * **Errors**: without any browser it throws where `isRequired`, and returns `undefined` elsewhere. A `CHROMIUM_PATH` that does
 * not start always throws.
 */
export const findBrowser = async ({ env, find, install }: Machine = thisMachine): Promise<BrowserPlace | undefined> => {
  const place = (await find(placesOf(env))) ?? (install(env) ? await find(placesOf(env)) : undefined)
  if (place !== undefined) return place
  const named = env["CHROMIUM_PATH"]
  if (named !== undefined && named !== "") throw new Error(`No browser starts at CHROMIUM_PATH=${named}`)
  if (isRequired(env))
    throw new Error(`The browser tests need Chrome, Edge or Chromium. Install one: ${installCommand}`)
  return undefined
}
