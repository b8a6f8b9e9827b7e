/** A browser, and a playground that it opens. */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Adapter } from "@troupe/chat/models"
import { Store } from "@troupe/chat/store"
import { ToolExecutor } from "@troupe/chat/tools"
import * as Effect from "effect/Effect"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { inject } from "vitest"
import { type Playground, startPlayground } from "../../src/host/playground.ts"
import { adapterOf, scriptedModels } from "../../src/host/models.ts"
import { launch } from "./findBrowser.ts"

const folder = join(import.meta.dirname, "../..")

/** The page, which is built before the tests. */
export const builtPages = join(folder, "dist/page")

/** Where the pictures go. */
const pictures = join(folder, "dist/pictures")

const place = inject("browser")

/** The options of a block of tests that need the browser: without one the tests are reported as not run. */
export const inBrowser: { readonly skip: boolean } = { skip: place === null }

/** Starts the browser. */
export const openBrowser = (): Promise<Browser> => {
  if (place === null) throw new Error("openBrowser() needs a browser: give the block the options inBrowser")
  return launch(place)
}

/** Resolves when a signal is aborted. */
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })

/** An adapter whose answers stop behind a word until `goOn` resolves, or the request is aborted. */
const pausing = (adapter: Adapter.Adapter, word: string, goOn: Promise<void>): Adapter.Adapter => ({
  name: adapter.name,
  stream: async function* (request, options) {
    for await (const event of Adapter.eventsOf(await adapter.stream(request, options))) {
      yield event
      if (event.type === "text_delta" && event.delta.includes(word)) await Promise.race([goOn, aborted(options.signal)])
    }
  }
})

/** An executor whose calls run, but begin their work only when `goOn` resolves, or when they are cancelled. */
const holding = (goOn: Promise<void>): ToolExecutor.ToolExecutor => ({
  execute: async (tool, args, context) => {
    await Promise.race([goOn, aborted(context.signal)])
    const returned = ToolExecutor.inProcess.execute(tool, args, context)
    return Effect.isEffect(returned) ? Effect.runPromise(returned, { signal: context.signal }) : returned
  }
})

/** A playground of a test. */
export interface TestPlayground extends Playground {
  /** Lets the answers go on that stopped behind `pauseAt`, and the calls that `holdTools` holds. */
  readonly goOn: () => void
}

/**
 * A playground of its own for a test, with a fast model.
 *
 * **Details**: an answer stops behind the word `pauseAt` until `goOn` is called: a test sees the middle of an answer, however
 * slow the machine is. With `holdTools` each call runs until `goOn` is called: a test sees all calls run beside each other.
 */
export const openPlayground = async (
  options: { readonly store?: Store.Store; readonly pauseAt?: string; readonly holdTools?: boolean } = {}
): Promise<TestPlayground> => {
  const gate = Promise.withResolvers<void>()
  const models = scriptedModels(5)
  const model = adapterOf(models)
  const playground = await startPlayground({
    adapter: options.pauseAt === undefined ? model : pausing(model, options.pauseAt, gate.promise),
    models,
    store: options.store ?? Store.memory(),
    pages: builtPages,
    ...(options.holdTools === true && { toolExecutor: holding(gate.promise), toolTimeoutMs: Infinity })
  })
  return Object.assign(playground, { goOn: () => gate.resolve() })
}

/** A page of a fresh profile, which fails the test when a script of it fails: `faults` are what it logged. */
export const openPage = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {}
): Promise<{ readonly page: Page; readonly faults: ReadonlyArray<string> }> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
  const page = await context.newPage()
  const faults = faultsOf(page)
  await page.goto(url)
  return { page, faults }
}

/** What a page logs as an error from here on. */
export const faultsOf = (page: Page): ReadonlyArray<string> => {
  const faults: Array<string> = []
  page.on("pageerror", (error) => faults.push(error.message))
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`${message.text()} ${message.location().url}`)
  })
  return faults
}

/** Keeps a picture of the page. */
export const picture = async (page: Page, name: string): Promise<void> => {
  await mkdir(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}
