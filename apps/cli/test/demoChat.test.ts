import { join } from "node:path"
import { expect, test } from "vitest"
import { startDemoChat } from "../src/demoChat.ts"
import { scriptedModel } from "../src/scriptedModel.ts"

test("DEMO1 without its file server the chat goes on, and says why", async () => {
  const folder = join(import.meta.dirname, "no such folder")
  const notices: Array<string> = []
  const adapter = scriptedModel({ folder, wordDelayMs: 0 })
  const demo = await startDemoChat({ adapter, folder, onNotice: (text) => notices.push(text) })
  expect(demo.hasFiles).toBe(false)
  expect(notices).toEqual([expect.stringMatching(/^no files: .*None of the specified directories are accessible/)])
  for await (const event of demo.send("what is 6 * 7")) expect(event.type).not.toBe("error")
  expect(demo.messages().at(-1)).toMatchObject({ role: "assistant", content: "6 * 7 = 42" })
  await demo.stop()
})

test("DEMO2 after stop nothing can be asked any more", async () => {
  const adapter = scriptedModel({ folder: import.meta.dirname, wordDelayMs: 0 })
  const demo = await startDemoChat({ adapter, folder: import.meta.dirname, onNotice: () => {} })
  expect(demo.tree()).toContain("MCP files")
  await demo.stop()
  expect(demo.tree()).toBe("")
})
