import { InMemoryTransport } from "@modelcontextprotocol/client"
import { inputRequired, McpServer } from "@modelcontextprotocol/server"
import { Fake, Troupe } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { Mcp } from "@troupe/mcp"
import { System } from "@troupe/otp"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { conversations, servePlayground } from "../../src/host/playground.ts"
import { builtPages, inBrowser, openBrowser, openPage } from "./browser.ts"
import { say, settles } from "./talk.ts"

/** A text that runs a script where a page takes it as HTML, and is a link where a page takes it as Markdown. */
const script = "globalThis.isTaken=1"
const markup = `<img src=x onerror="${script}"><script>${script}</script><b>bold</b> [here](javascript:${script})`
const address = `javascript:${script}`

const field = { type: "string" as const, title: `${markup} field`, description: markup, default: markup }
const form = {
  mode: "form" as const,
  message: `${markup} form`,
  requestedSchema: {
    type: "object" as const,
    properties: {
      text: field,
      choice: { type: "string" as const, title: markup, enum: [markup], enumNames: [`${markup} choice`] }
    },
    required: ["text"]
  }
}

/** A server all of whose texts are markup: it asks for a form and a page, and returns texts and links. */
const server = (): McpServer => {
  const made = new McpServer({ name: markup, version: markup }, { instructions: markup })
  made.registerTool("order", { title: markup, description: markup }, async ({ mcpReq }) => {
    const { how, pay } = mcpReq.inputResponses ?? {}
    const progress = { progressToken: mcpReq._meta?.progressToken ?? 0, progress: 1, total: 2, message: markup }
    await mcpReq.notify({ method: "notifications/progress", params: progress })
    if (how === undefined && pay === undefined)
      return inputRequired({ inputRequests: { how: inputRequired.elicit(form) } })
    const page = { mode: "url" as const, message: `${markup} page`, url: address, elicitationId: "e1" }
    if (pay === undefined) return inputRequired({ inputRequests: { pay: inputRequired.elicitUrl(page) } })
    return {
      content: [
        { type: "text", text: `${markup} result` },
        { type: "resource_link", uri: address, name: markup, title: markup, description: markup, mimeType: markup },
        { type: "resource", resource: { uri: address, text: markup, mimeType: "text/html" } }
      ]
    }
  })
  return made
}

/** A playground whose chats have that server, and the function that kills it. */
const openUntrusted = async () => {
  const system = System.make({ silent: true })
  let kill = (): void => {}
  let isDown = false
  const transport = (): InMemoryTransport => {
    if (isDown) throw new Error(`${markup} down`)
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    void server().connect(theirs)
    kill = () => {
      isDown = true
      void theirs.close()
    }
    return ours
  }
  const mcp = await Mcp.start(
    system,
    { transport },
    { name: "untrusted", protocol: "older", tool: () => ({ effect: "read" }), restarts: { firstDelayMs: 1 } }
  )
  // The model repeats what the server returned.
  const adapter = Fake.make({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      return last?.role === "user"
        ? [{ toolCall: { id: "c1", name: "order", arguments: { about: markup } } }, { finish: "tool_calls" }]
        : [{ text: last === undefined ? "" : Message.text(last) }, { finish: "stop" }]
    }
  })
  const troupe = await Troupe.start({ ...conversations, system, tools: mcp.tools, adapter, store: Store.memory() })
  const { url, close } = await servePlayground({ troupe, pages: builtPages })
  return {
    url,
    kill: () => kill(),
    close: async () => {
      await close()
      await troupe.stop()
      await System.stop(system)
    }
  }
}

let browser: Browser
let untrusted: Awaited<ReturnType<typeof openUntrusted>>

describe("a server of MCP that is not trusted", inBrowser, () => {
  beforeAll(async () => {
    browser = await openBrowser()
    untrusted = await openUntrusted()
  })

  afterAll(async () => {
    await browser.close()
    await untrusted.close()
  })

  test("MD1. its texts and addresses are no markup on the page: in the form, the page to open, results, the inbox and the observer", async () => {
    const { page, faults } = await openPage(browser, `${untrusted.url}/#/c/untrusted`)
    const isPlain = async (text: string): Promise<void> => {
      await page.getByText(text).first().waitFor()
      const taken = await page.evaluate(() => ({
        ran: "isTaken" in globalThis,
        made: Array.from(
          document.querySelectorAll("#root img, #root script, #root b, #root iframe, #root [onerror]"),
          ({ outerHTML }) => outerHTML
        ),
        links: Array.from(document.querySelectorAll("a"), ({ protocol }) => protocol).filter(
          (protocol) => !/^(https?|mailto):$/.test(protocol)
        )
      }))
      expect(taken).toEqual({ ran: false, made: [], links: [] })
    }
    await say(page, `${markup} said`)
    await isPlain(`${markup} form`)
    await isPlain(`${markup} field`)
    const decision = page.getByRole("region", { name: "Decision about order" })
    await decision.getByRole("button", { name: "Answer" }).click()
    await isPlain(`${markup} page`)
    await decision.getByText(address, { exact: true }).waitFor()
    await decision.getByRole("button", { name: "Done" }).click()
    await settles(page)
    await page.locator(".troupe-call summary").first().click()
    await isPlain("result")
    const row = page.getByRole("treeitem", { name: /^MCP untrusted/u })
    await row.click()
    await page.getByText("connected").first().waitFor()
    untrusted.kill()
    await page.getByText("waiting").first().waitFor()
    await isPlain(`down`)
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click()
      await isPlain("order")
    }
    expect(faults).toEqual([])
    await page.context().close()
  })
})
