/**
 * What a user does with a running project. Each visit returns what is wrong.
 *
 * @module
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { launch } from "../../../apps/playground/test/browser/findBrowser.ts"
import { problems } from "../../../apps/playground/test/browser/talk.ts"
import { freePort } from "../../../packages/store/test/double/freePort.ts"
import { hasFile, type Options, type Running, scriptCommand, whileRunning } from "./project.ts"

/** What a visit needs. */
export interface Place {
  readonly project: string
  readonly manager: Options["manager"]
  readonly env: NodeJS.ProcessEnv
  readonly browser: Awaited<ReturnType<typeof launch>>
  /** The folder of the pictures. */
  readonly pictures: string
}

/** What is wrong after a visit. */
export type Visit = (place: Place) => Promise<ReadonlyArray<string>>

const check = (isRight: boolean, problem: string): ReadonlyArray<string> => (isRight ? [] : [problem])

/** Starts a script on a free port, waits until the port answers, and calls `use` with the address. */
const served = async (
  { project, manager, env }: Place,
  script: string,
  args: (port: number) => ReadonlyArray<string>,
  use: (url: string) => Promise<ReadonlyArray<string>>
): Promise<ReadonlyArray<string>> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const command = scriptCommand(manager, script, ...args(port))
  return whileRunning(command, project, { ...env, PORT: String(port) }, async (running) => {
    await answers(url, running)
    return use(url)
  })
}

/** Waits until a server has printed its address, and has answered there. A server in development compiles before its first answer. */
const answers = async (url: string, { prints }: Running): Promise<void> => {
  await prints(url)
  await (await fetch(url)).body?.cancel()
}

const post = async (url: string, body: object): Promise<string> => {
  const headers = { "content-type": "application/json", accept: "text/event-stream" }
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).text()
}

/** Asks, is asked for a decision, and decides, by the routes of the server below a path. */
const overHttp =
  (path: string): Visit =>
  (place) =>
    served(
      place,
      "start",
      () => [],
      async (url) => {
        const chat = `${url}${path}/chats/c1`
        const answer = await post(`${chat}/messages`, { input: "Where is order 7?" })
        const deltas = answer.match(/"type":"text_delta"/g) ?? []
        const asked = await post(`${chat}/messages`, { input: "Refund order 7" })
        const id = /"id":"(call-\d+)"/.exec(asked)?.[1] ?? "none"
        const paid = await post(`${chat}/approvals/${id}`, { type: "allow" })
        return [
          ...check(deltas.length > 3 && answer.includes("sent on Monday"), `no streamed answer: ${answer}`),
          ...check(asked.includes("awaiting_approval"), `no decision is asked for: ${asked}`),
          ...check(paid.includes("are paid back"), `no refund: ${paid}`)
        ]
      }
    )

/** Chats behind HTTP, and the file of a store if there is one. */
export const server =
  (file?: string): Visit =>
  async (place) => [
    ...(await overHttp("/chat")(place)),
    ...check(file === undefined || hasFile(place.project, file), `the store has no file ${file}`)
  ]

/** A node alone, with its probes. */
export const cluster: Visit = (place) => overHttp("")(place)

/** A conversation in the terminal, with a decision. */
export const terminal: Visit = ({ project, manager, env }) =>
  whileRunning(scriptCommand(manager, "dev"), project, env, async ({ type, endInput, prints, ended, output }) => {
    await prints("› ")
    type("Where is order 7?\n")
    await prints(/sent on Monday\.\s+› /)
    type("Refund order 7\n")
    await prints("[y/N] ")
    type("y\n")
    await prints(/are paid back\.\s+› /)
    endInput()
    const code = await ended
    return check(code === 0, `ended with ${code}: ${output()}`)
  })

/** A team that asks a person. */
export const team: Visit = ({ project, manager, env }) =>
  whileRunning(scriptCommand(manager, "dev"), project, env, async ({ type, prints, ended, output }) => {
    await prints("How many guests come? ")
    type("two\n")
    const code = await ended
    return check(code === 0 && output().includes("coordinator: Here is the plan."), `ended with ${code}: ${output()}`)
  })

/** A service whose process crashes and is started again. */
export const otp: Visit = (place) =>
  served(
    place,
    "start",
    () => [],
    async (url) => {
      const ask = async (path: string, method = "GET") => (await fetch(`${url}${path}`, { method })).text()
      const seen = [
        await ask("/mugs?take=2", "POST"),
        await ask("/mugs"),
        await ask("/mugs?take=none", "POST"),
        await ask("/mugs")
      ]
      const isRight = /^taken\n8\n.*crashed.*\n10\n$/s.test(seen.join(""))
      return [...check(isRight, seen.join("")), ...check((await ask("/")).includes("mugs"), "the tree has no mugs")]
    }
  )

/** Talks in a page: a streamed answer, a decision, and no fault in the console. Returns what is wrong. */
const inBrowser = async (
  { browser, pictures, project }: Place,
  url: string,
  isReloaded: boolean
): Promise<ReadonlyArray<string>> => {
  const name = project.split(/[/\\]/).at(-1) ?? ""
  const context = await browser.newContext({ viewport: { width: 900, height: 700 } })
  const page = await context.newPage()
  const faults: Array<string> = []
  page.on("pageerror", ({ message }) => faults.push(message))
  page.on("console", (line) => {
    if (line.type() === "error") faults.push(line.text())
  })
  const say = async (text: string): Promise<void> => {
    await page.getByLabel("Message", { exact: true }).fill(text)
    await page.getByRole("button", { name: "Send" }).click()
  }
  try {
    await page.goto(url)
    await page.getByRole("button", { name: "Send" }).waitFor()
    // A page that a server has rendered takes no text before React owns it.
    await page.waitForFunction(() => {
      const button = document.querySelector("form button")
      return button !== null && Object.keys(button).some((key) => key.startsWith("__reactProps"))
    })
    // The lengths of the log while it grows: a streamed answer has many.
    await page.evaluate(() => {
      const log = document.querySelector('[role="log"]')
      const lengths = new Set<number>()
      Object.assign(globalThis, { lengths })
      if (log === null) return
      new MutationObserver(() => lengths.add(log.textContent.length)).observe(log, {
        childList: true,
        characterData: true,
        subtree: true
      })
    })
    await say("Where is order 7?")
    await page.getByText(/I have asked the shop\..*sent on Monday\./).waitFor()
    const lengths = await page.evaluate(() => (globalThis as unknown as { lengths: Set<number> }).lengths.size)
    await say("Refund order 7")
    await page.getByRole("button", { name: "Allow" }).waitFor()
    mkdirSync(pictures, { recursive: true })
    await page.screenshot({ path: join(pictures, `${name}.png`) })
    const inaccessible = await problems(page)
    await page.getByRole("button", { name: "Allow" }).click()
    await page.getByText(/I have asked the shop\..*are paid back\./).waitFor()
    if (isReloaded) {
      // A client that leaves in the middle of an answer finds it again.
      await say("Where is order 8?")
      await page.getByRole("button", { name: "Stop" }).waitFor()
      await page.reload()
      await page.getByText(/I have asked the shop\. Order 8.*sent on Monday\./).waitFor()
    }
    return [...check(lengths > 4, `the answer came in ${lengths} pieces`), ...inaccessible, ...faults]
  } catch (error) {
    return [String(error), ...faults, (await page.textContent("body")) ?? ""]
  } finally {
    await context.close()
  }
}

const host = "127.0.0.1"

/** A page of Vite, in development and as it is built. */
export const react: Visit = async (place) => {
  const args = (port: number) => ["--port", String(port), "--strictPort", "--host", host]
  return [
    ...(await served(place, "dev", args, (url) => inBrowser(place, url, false))),
    ...(await served(place, "start", args, (url) => inBrowser(place, url, false)))
  ]
}

/** A page of Next.js: in development, as it is built, and as its standalone server. */
export const next: Visit = async (place) => {
  const args = () => ["--hostname", host]
  return [
    ...(await served(place, "dev", args, (url) => inBrowser(place, url, true))),
    ...(await served(place, "start", args, (url) => inBrowser(place, url, true))),
    ...(await standalone(place))
  ]
}

const standalone = async (place: Place): Promise<ReadonlyArray<string>> => {
  const port = await freePort()
  const env = { ...place.env, PORT: String(port), HOSTNAME: host }
  return whileRunning([process.execPath, ".next/standalone/server.js"], place.project, env, async (running) => {
    const url = `http://${host}:${port}`
    await answers(url, running)
    const message = { id: "u1", role: "user", parts: [{ type: "text", text: "Where is order 7?" }] }
    const answer = await post(`${url}/api/chat`, { id: "alone", message })
    return check(answer.includes('"type":"finish"'), `the standalone server: ${answer}`)
  })
}
