import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Playground } from "../../src/host/playground.ts"
import { inBrowser, openBrowser, openPage, openPlayground, picture } from "./browser.ts"
import { excessWidth, problems } from "./talk.ts"

let browser: Browser
let playground: Playground

const converse = async (page: Page): Promise<void> => {
  await page.locator(".troupe-composer textarea").fill("Crash a tool and look at the weather in Rome")
  await page.keyboard.press("Enter")
  await page.locator(".troupe-message").getByText("The crash call crashed").waitFor()
  await page.locator('.troupe-status[data-phase="idle"]').waitFor()
}

describe("the page", inBrowser, () => {
  beforeAll(async () => {
    browser = await openBrowser()
    playground = await openPlayground()
  })

  afterAll(async () => {
    await browser.close()
    await playground.close()
  })

  test("opening the page starts no process, and a conversation begins with its first message", async () => {
    const { page, faults } = await openPage(browser, playground.url)
    const chats = page.getByRole("treeitem", { name: /^Chat /u })
    await page.getByRole("treeitem", { name: /^ChatSupervisor/u }).waitFor()
    await page.getByRole("button", { name: "Charge 20 dollars" }).waitFor()
    expect(await chats.count()).toBe(0)
    await page.getByRole("button", { name: "Tell me a long story" }).click()
    await page.waitForURL((url) => url.hash.startsWith("#/c/"))
    await chats.first().waitFor()
    await page.locator('.troupe-status[data-phase="idle"]').waitFor()
    expect(faults).toEqual([])
    await page.context().close()
  })

  test("the document is as high and as wide as the window at five sizes, whatever the observer shows", async () => {
    const { page } = await openPage(browser, `${playground.url}/#/c/sizes`)
    await converse(page)
    await page.getByRole("button", { name: "Whole chart" }).click()
    for (const [width, height] of [
      [1920, 1080],
      [1440, 900],
      [1100, 700],
      [768, 1024],
      [390, 844]
    ] as const) {
      await page.setViewportSize({ width, height })
      const size = await page.evaluate(() => {
        const { scrollWidth, scrollHeight } = document.documentElement
        return { width: scrollWidth, height: scrollHeight, isStill: document.body.scrollHeight <= innerHeight }
      })
      expect(size).toEqual({ width, height, isStill: true })
    }
    await page.context().close()
  })

  test.each(["light", "dark"] as const)(
    "has no accessibility fault that can be found by machine, wide and on a phone, %s",
    async (colorScheme) => {
      const { page, faults } = await openPage(browser, playground.url, {
        colorScheme,
        viewport: { width: 1440, height: 900 }
      })
      await page.getByRole("button", { name: "Charge 20 dollars" }).waitFor()
      await picture(page, `new-${colorScheme}`)
      await page.evaluate((id) => {
        location.hash = `#/c/${id}`
      }, colorScheme)
      await converse(page)
      await page.locator(".troupe-composer textarea").fill("Charge 20 dollars")
      await page.keyboard.press("Enter")
      await page.getByRole("region", { name: "Decision about charge" }).waitFor()
      await page.locator(".troupe-inbox li").first().waitFor()
      await picture(page, `whole-${colorScheme}`)
      await page.getByRole("treeitem").first().click()
      expect(await problems(page)).toEqual([])
      await page.getByRole("button", { name: "Follow the chat" }).click()
      await page.locator('[role="treeitem"][aria-selected="true"]', { hasText: /^Chat / }).waitFor()
      await page.setViewportSize({ width: 390, height: 844 })
      for (const room of ["Chats", "Chat", "Observer"]) {
        await page.getByRole("button", { name: room, exact: true }).click()
        await picture(page, `phone-${room.toLowerCase()}-${colorScheme}`)
        expect({ room, wider: await excessWidth(page) }).toEqual({ room, wider: 0 })
        if (colorScheme === "light") expect(await problems(page)).toEqual([])
      }
      expect(faults).toEqual([])
      await page.context().close()
    }
  )

  test("a person reads what was remembered, and deletes it", async () => {
    const own = await openPlayground()
    await own.troupe.memories.remember("you/", "m1", "Anna drinks green tea.")
    await own.troupe.memories.remember("you/", "m2", "Anna lives in Rome.")
    const { page, faults } = await openPage(browser, own.url)
    await page.getByText("Memories", { exact: true }).click()
    const panel = page.getByRole("region", { name: "Memories" })
    await panel.getByText("Anna lives in Rome.").waitFor()
    expect(await problems(page)).toEqual([])
    await panel.getByRole("button", { name: "Forget: Anna drinks green tea." }).click()
    await panel.getByText("Anna drinks green tea.").waitFor({ state: "detached" })
    expect((await own.troupe.memories.list("you/")).memories.map(({ id }) => id)).toEqual(["m2"])
    await panel.getByRole("button", { name: "Forget: Anna lives in Rome." }).click()
    await panel.getByText("Nothing was remembered.").waitFor()
    expect(faults).toEqual([])
    await own.close()
  })

  test("what all conversations wait for is listed, and decided by keyboard from another conversation", async () => {
    const own = await openPlayground()
    const { page, faults } = await openPage(browser, `${own.url}/#/c/paying`)
    await page.locator(".troupe-composer textarea").fill("Charge 5 dollars")
    await page.keyboard.press("Enter")
    const panel = page.getByRole("region", { name: "Waiting for you" })
    await page.locator("main").getByRole("button", { name: "Allow", exact: true }).waitFor()
    await page.evaluate(() => {
      location.hash = "#/c/elsewhere"
    })
    const allow = panel.getByRole("button", { name: "Allow: charge" })
    await allow.waitFor()
    await picture(page, "waiting")
    expect(await problems(page)).toEqual([])
    await allow.focus()
    await page.keyboard.press("Enter")
    await panel.getByText("Allowed").waitFor()
    await page.getByRole("button", { name: "Undo: charge" }).focus()
    await page.keyboard.press("Enter")
    await allow.waitFor()
    await page.keyboard.press("Enter")
    await panel.getByText("Nothing waits for you.", { exact: true }).waitFor()
    await page.evaluate(() => {
      location.hash = "#/c/paying"
    })
    await page.locator(".troupe-message[data-role=assistant]").last().getByText("charged 5 dollars").waitFor()
    expect(faults).toEqual([])
    await own.close()
  })

  test("is used by keyboard alone", async () => {
    const { page, faults } = await openPage(browser, `${playground.url}/#/c/keys`)
    const isAt = (found: (element: Element | null) => boolean): Promise<boolean> =>
      page.evaluate(`(${String(found)})(document.activeElement)`)
    const reach = async (key: string, name: string, found: (element: Element | null) => boolean): Promise<void> => {
      for (let presses = 0; presses < 60; presses++) {
        if (await isAt(found)) return
        await page.keyboard.press(key)
      }
      throw new Error(`${key} does not reach ${name}`)
    }
    await reach("Tab", "the composer", (element) => element?.matches(".troupe-composer textarea") === true)
    await page.keyboard.type("Hello")
    await page.keyboard.press("Enter")
    await page.locator(".troupe-thread").getByText("I am a small scripted model").waitFor()
    await reach("Tab", "the tree", (element) => element?.getAttribute("role") === "treeitem")
    // The rows below the chat's row end with the turn, and the focus then moves up. The rows above it stay.
    await page.keyboard.press("Home")
    await reach(
      "ArrowDown",
      "the chat's row",
      (element) => element?.querySelector(".tro-label")?.getAttribute("title") === "Chat you/keys"
    )
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: /^Kill/u }).waitFor()
    expect(faults).toEqual([])
  })

  test("OBS3. when the model request of the focused row ends, the chat's row gets the focus and the next key", async () => {
    const paused = await openPlayground({ pauseAt: "scripted" })
    const { page, faults } = await openPage(browser, `${paused.url}/#/c/keys`)
    const row = (name: RegExp) => page.getByRole("treeitem", { name })
    const focused = page.locator("[role=treeitem]:focus .tro-label")
    await page.locator(".troupe-composer textarea").fill("Hello")
    await page.keyboard.press("Enter")
    await row(/^AdapterStream/u).waitFor()
    await row(/^Chat /u).focus()
    await page.keyboard.press("End")
    expect(await focused.textContent()).toBe("AdapterStream scripted")
    paused.goOn()
    await row(/^AdapterStream/u).waitFor({ state: "detached" })
    expect(await focused.getAttribute("title")).toBe("Chat you/keys")
    await page.keyboard.press("ArrowUp")
    expect(await focused.textContent()).toBe("ChatSupervisor")
    expect(faults).toEqual([])
    await paused.close()
  })
})
