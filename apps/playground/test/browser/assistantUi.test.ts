/** The unmodified components of assistant-ui against the server, in a real browser. */
import { Troupe, tool } from "@troupe/chat"
import type { AdapterEvent } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import type { Adapter, Request as ModelRequest } from "@troupe/chat/models"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { inBrowser, openBrowser, openPage } from "./browser.ts"
import { builtPage } from "./builtPage.ts"

let browser: Browser
let files: Awaited<ReturnType<typeof builtPage>>

/** Resolves when the request is aborted. */
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })

const calling = (name: string): AdapterEvent => ({
  type: "tool_call_completed",
  id: `call-${name}`,
  name,
  arguments: {},
  rawArguments: "{}"
})

/** A model that calls the tool that the user names, tells without an end, or says how often it was asked. */
const model = () => {
  const requests: Array<ModelRequest> = []
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<AdapterEvent> {
    const count = requests.push(request)
    yield { type: "message_started", message: { role: "assistant", content: "" } }
    const last = request.messages.at(-1)
    const said = last === undefined ? "" : Message.text(last)
    const named = request.tools?.find(({ name }) => last?.role === "user" && said === name)
    if (named === undefined) {
      yield { type: "text_delta", id: null, delta: `Answer ${count} to ${said}` }
      if (said === "endless") return aborted(signal)
    } else yield calling(named.name)
    yield {
      type: "message_completed",
      message: { role: "assistant", content: "" },
      finishReason: named === undefined ? "stop" : "tool_calls",
      usage: { inputTokens: 10, outputTokens: 1 }
    }
  }
  const adapter: Adapter.Adapter = { name: "test", stream: (request, { signal }) => stream(request, signal) }
  return { adapter, requests }
}

const weather = tool({ name: "weather", execute: () => ({ degrees: 12 }) })

/** A page of a server of its own, for one test. */
const open = async () => {
  const { adapter, requests } = model()
  const troupe = await Troupe.start({ adapter, tools: [weather], instructions: "Be brief." })
  const server = Server.make({
    troupe,
    authorize: () => ({ owner: "anna" }),
    clientTools: true,
    posts: { history: "replace" }
  })
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    const file = files.get(pathname === "/" ? "/index.html" : pathname)
    return file === undefined
      ? server.fetch(request)
      : new Response(file.body, { headers: { "content-type": file.contentType } })
  }
  const { url, close } = await listen({ ...server, fetch }, { port: 0 })
  onTestFinished(async () => {
    await close()
    await troupe.stop()
  })
  const { page, faults } = await openPage(browser, url)
  const thread = async () => {
    const [summary] = (await troupe.list()).chats
    return summary === undefined ? [] : (await troupe.chat(summary.id)).thread.messages.map(Message.text)
  }
  return { page, faults, requests, thread, troupe }
}

const say = async (page: Page, text: string): Promise<void> => {
  await page.locator(".composer textarea").fill(text)
  await page.getByRole("button", { name: "Send", exact: true }).click()
}

const answer = (page: Page, text: string): Promise<void> =>
  page.locator(".assistant").getByText(text, { exact: true }).waitFor()

/** Waits until the page has read the end of the turn, after which the answer is in the thread. */
const ended = (page: Page): Promise<void> => page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" })

describe("assistant-ui", inBrowser, () => {
  beforeAll(async () => {
    files = await builtPage("assistantUi")
    browser = await openBrowser()
  })

  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
  })

  afterAll(() => browser.close())

  test("says something, reads the answer, and shows its usage", async () => {
    const { page, faults, requests, thread } = await open()
    await say(page, "Hi")
    await answer(page, "Answer 1 to Hi")
    await page.locator("#usage").getByText("11").waitFor()
    await say(page, "Again")
    await answer(page, "Answer 2 to Again")
    await ended(page)
    expect(await thread()).toEqual(["Hi", "Answer 1 to Hi", "Again", "Answer 2 to Again"])
    expect(JSON.stringify(requests[0])).toContain("Be brief.\\n\\nSpeak Norwegian.")
    expect(faults).toEqual([])
  })

  test("shows a tool of the server, and runs a tool of its own", async () => {
    const { page, faults, requests } = await open()
    await say(page, "weather")
    await page.locator(".tool").getByText('weather: {"degrees":12}').waitFor()
    await answer(page, 'Answer 2 to {"degrees":12}')
    await say(page, "where")
    await page.locator(".tool").getByText('where: {"city":"Oslo"}').waitFor()
    await answer(page, 'Answer 4 to {"city":"Oslo"}')
    expect(requests.map(({ tools }) => tools.map(({ name }) => name).toSorted())).toEqual(
      Array.from({ length: 4 }, () => ["compass", "weather", "where"])
    )
    expect(faults).toEqual([])
  })

  test("RESULT3. gives the error of a tool of its own to the model, and goes on", async () => {
    const { page, requests, thread } = await open()
    await say(page, "compass")
    await page.locator(".assistant").getByText("Answer 2 to").waitFor()
    const given = requests[1]?.messages.at(-1)
    expect(given).toMatchObject({ role: "tool", toolCallId: "call-compass", outcome: "failed" })
    expect(JSON.stringify(given)).toContain("No magnet")
    await say(page, "Again")
    await answer(page, "Answer 3 to Again")
    await ended(page)
    expect(await thread()).toHaveLength(6)
  })

  test("edits an earlier message, which rewinds the conversation", async () => {
    const { page, faults, thread } = await open()
    for (const [index, text] of ["a", "b"].entries()) {
      await say(page, text)
      await answer(page, `Answer ${index + 1} to ${text}`)
    }
    await page.getByRole("button", { name: "Edit" }).first().click()
    await page.locator(".edit textarea").fill("c")
    await page.getByRole("button", { name: "Save" }).click()
    await answer(page, "Answer 3 to c")
    expect(await page.locator(".assistant").count()).toBe(1)
    await ended(page)
    expect(await thread()).toEqual(["c", "Answer 3 to c"])
    expect(faults).toEqual([])
  })

  test("reloads the last answer", async () => {
    const { page, faults, thread } = await open()
    await say(page, "a")
    await answer(page, "Answer 1 to a")
    await page.getByRole("button", { name: "Reload" }).click()
    await answer(page, "Answer 2 to a")
    await ended(page)
    expect(await thread()).toEqual(["a", "Answer 2 to a"])
    expect(faults).toEqual([])
  })

  test("stops an answer, and the next message interrupts it", async () => {
    const { page, faults, thread } = await open()
    await say(page, "endless")
    await answer(page, "Answer 1 to endless")
    await page.getByRole("button", { name: "Stop" }).click()
    await ended(page)
    await say(page, "b")
    await answer(page, "Answer 2 to b")
    await ended(page)
    expect(await thread()).toEqual(["endless", "Answer 1 to endless", "b", "Answer 2 to b"])
    expect(faults).toEqual([])
  })
})
