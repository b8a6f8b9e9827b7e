/** What a person does and sees in the conversation of the page. */
import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"

/** Says something, and waits until the chat has taken it. Rejects with the refusal if it is refused. */
export const say = async (page: Page, text: string): Promise<void> => {
  await page.locator(".troupe-composer textarea").fill(text)
  await page.keyboard.press("Enter")
  const refusal = page.locator(".troupe-composer .troupe-fault")
  const taken = page.locator(".troupe-message[data-role=user]").getByText(text).last()
  await taken.or(refusal).first().waitFor()
  if (await refusal.isVisible()) throw new Error(`«${text}» was refused: ${await refusal.innerText()}`)
}

/** Waits until the chat is in a phase, and the page is connected. */
export const settles = (page: Page, phase = "idle"): Promise<void> =>
  page.locator(`.troupe-status[data-phase="${phase}"][data-connection="open"]`).waitFor()

/** The whole story of the scripted model. */
export const story = /^Once there was a lighthouse keeper.*somebody is expected\.$/su

/** The faults of accessibility that are found by machine. */
export const problems = async (page: Page): Promise<ReadonlyArray<string>> => {
  const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21aa"]).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}`))
}

/** How much wider than the screen the page is, in pixels. */
export const excessWidth = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
