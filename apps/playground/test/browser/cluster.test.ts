/** The cluster that people see and touch: real processes on a real PostgreSQL, and the page of their gateway. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { type RunningCluster, startCluster } from "../../src/cluster/cluster.ts"
import type { NodeStatus } from "../../src/control/index.ts"
import { builtPages, inBrowser, openBrowser, openPage, picture } from "./browser.ts"
import { excessWidth, problems, say, settles, story } from "./talk.ts"

/** How long a step may take, in milliseconds: the nodes share the machine with the other tests. */
const patienceMs = 90_000

let browser: Browser
let cluster: RunningCluster

const node = (page: Page, number: number) => page.locator(`.nodes li[data-node="${number}"]`)

const becomes = (page: Page, number: number, state: NodeStatus["state"]): Promise<void> =>
  page.locator(`.nodes li[data-node="${number}"][data-state="${state}"]`).waitFor()

const act = (page: Page, action: string, number: number): Promise<void> =>
  node(page, number)
    .getByRole("button", { name: `${action} ${number === 0 ? "Gateway" : `Home ${number}`}` })
    .click()

/** The number of the home of the conversation on the page. */
const homeOf = async (page: Page, other = 0): Promise<number> => {
  const here = page.locator(`.nodes li[data-here="true"]:not([data-node="${other}"])`)
  await here.waitFor()
  return Number(await here.getAttribute("data-node"))
}

/** Asks for the story, waits for its beginning, and returns the home of the conversation. */
const tellStory = async (page: Page): Promise<number> => {
  await say(page, "Tell me a long story")
  await page.locator("[data-state=streaming]").getByText("Once there was").waitFor()
  return homeOf(page)
}

/** Waits for the end of the answers, and returns the texts of the model. */
const answers = async (page: Page): Promise<ReadonlyArray<string>> => {
  await settles(page)
  return page.locator(".troupe-message[data-role=assistant]").allInnerTexts()
}

/** Resolves when all of these nodes have conversations. */
const haveBuckets = (isMeant: (node: NodeStatus) => boolean): Promise<void> =>
  expect
    .poll(() => cluster.status().nodes.filter((one) => isMeant(one) && one.buckets === 0), { timeout: patienceMs })
    .toEqual([])

/** The browser reports each request that a frozen or an ended node cuts or refuses. */
const isOfRequest = /^Failed to load resource/u

/** A page of the gateway. */
const open = async (chat: string, options: BrowserContextOptions = {}) => {
  const opened = await openPage(browser, `${cluster.url}/#/c/${chat}`, options)
  opened.page.setDefaultTimeout(patienceMs)
  return opened
}

describe("the cluster in the browser", { ...inBrowser, timeout: 3 * patienceMs }, () => {
  beforeAll(async () => {
    browser = await openBrowser()
    cluster = await startCluster({ print: () => {}, pages: builtPages, leaseMs: 3_000, wordDelayMs: 60 })
  }, 2 * patienceMs)

  beforeEach(async () => {
    for (const { number, state } of cluster.status().nodes) {
      if (state === "ended") cluster.command({ type: "start", node: number })
      if (state === "frozen") cluster.command({ type: "wake", node: number })
    }
    const others = () => cluster.status().nodes.filter(({ state }) => state !== "running")
    await expect.poll(others, { timeout: patienceMs }).toEqual([])
    await haveBuckets(({ role }) => role === "home")
  }, 2 * patienceMs)

  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
  })

  afterAll(async () => {
    await browser.close()
    await cluster.close()
  })

  test("a conversation continues when its home is killed, when its next home drains, and when a home joins", async () => {
    const { page } = await open("moves")
    const first = await tellStory(page)
    await picture(page, "cluster-streams")
    await act(page, "Kill", first)
    await becomes(page, first, "ended")
    await picture(page, "cluster-killed")
    await page.emulateMedia({ colorScheme: "dark" })
    await picture(page, "cluster-killed-dark")
    expect(await answers(page)).toEqual([expect.stringMatching(story)])
    expect(await homeOf(page, first)).not.toBe(first)

    const second = await tellStory(page)
    await act(page, "Drain", second)
    await becomes(page, second, "ended")
    await picture(page, "cluster-drained")
    expect(await answers(page)).toEqual([expect.stringMatching(story), expect.stringMatching(story)])
    expect(await homeOf(page, second)).not.toBe(second)

    await tellStory(page)
    await page.getByRole("button", { name: "Add a home" }).click()
    await becomes(page, 4, "running")
    await haveBuckets(({ number }) => number === 4)
    await picture(page, "cluster-joined")
    expect(await answers(page)).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(story)))
    expect(await page.locator(".troupe-message[data-role=user]").count()).toBe(3)
  })

  test("a conversation whose home is frozen continues at another one, and the home that wakes changes nothing", async () => {
    const { page } = await open("frozen")
    const first = await tellStory(page)
    await act(page, "Freeze", first)
    await becomes(page, first, "frozen")
    await picture(page, "cluster-frozen")
    expect(await answers(page)).toEqual([expect.stringMatching(story)])
    expect(await homeOf(page, first)).not.toBe(first)
    await act(page, "Wake", first)
    await becomes(page, first, "running")
    await haveBuckets(({ number }) => number === first)
    expect(await answers(page)).toEqual([expect.stringMatching(story)])
  })

  test("a page whose gateway is killed connects again, and its conversation has continued", async () => {
    const { page } = await open("gateway")
    await tellStory(page)
    await act(page, "Kill", 0)
    await page.locator('.troupe-status[data-connection="reconnecting"]').waitFor()
    await picture(page, "cluster-without-gateway")
    await becomes(page, 0, "running")
    expect(await answers(page)).toEqual([expect.stringMatching(story)])
    expect(await page.locator(".troupe-message[data-role=user]").count()).toBe(1)
  })

  test("the keys do what the buttons do, but not in a field, and not when they are off", async () => {
    const { page } = await open("keys")
    await becomes(page, 1, "running")
    await page.locator(".troupe-composer textarea").fill("")
    await page.keyboard.type("f1")
    const keys = page.getByRole("button", { name: "Keys" })
    await keys.focus()
    await page.keyboard.press("Space")
    await page.keyboard.type("f1")
    expect(await node(page, 1).getAttribute("data-state")).toBe("running")
    await page.keyboard.press("Space")
    await page.keyboard.type("f1")
    await becomes(page, 1, "frozen")
    await page.keyboard.type("f1")
    await becomes(page, 1, "running")
    await page.keyboard.type("k2")
    await becomes(page, 2, "ended")
    await page.keyboard.type("s2")
    await becomes(page, 2, "running")
  })

  test.each(["light", "dark"] as const)(
    "the nodes have no accessibility fault that can be found by machine, %s",
    async (colorScheme) => {
      const { page, faults } = await open(colorScheme, { colorScheme })
      await becomes(page, 1, "running")
      cluster.command({ type: "freeze", node: 1 })
      cluster.command({ type: "kill", node: 2 })
      await becomes(page, 1, "frozen")
      await becomes(page, 2, "ended")
      await page.locator('.troupe-status[data-connection="open"]').waitFor()
      await picture(page, `cluster-${colorScheme}`)
      expect(await problems(page)).toEqual([])
      expect(faults.filter((fault) => !isOfRequest.test(fault))).toEqual([])
    }
  )

  test("on a phone nothing is wider than the screen", async () => {
    const viewport = { width: 390, height: 844 }
    const { page } = await open("phone", { viewport, hasTouch: true })
    await tellStory(page)
    await picture(page, "cluster-phone")
    expect(await excessWidth(page)).toBe(0)
    expect(await problems(page)).toEqual([])
    await settles(page)
  })
})
