import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { scriptedModel } from "@troupe/scripted"
import { startDemoChat } from "../../src/chat/demoChat.ts"
import { runPiped } from "../../src/chat/piped.ts"
import { appendingDisplay } from "../../src/output/display.ts"
import { plainPaint } from "../../src/output/paint.ts"

test("a piped chat that is ended before its first question asks nothing itself, and writes nothing", async () => {
  const adapter = scriptedModel({ folder: import.meta.dirname, wordDelayMs: 0 })
  const demo = await startDemoChat({ adapter, folder: undefined, onNotice: () => {} })
  const ending = new AbortController()
  let out = ""
  const display = appendingDisplay((text) => (out += text))
  const running = runPiped({ demo, input: new PassThrough(), display, paint: plainPaint, signal: ending.signal })
  ending.abort()
  expect([await running, out]).toEqual([{ failed: false }, ""])
  await demo.stop()
})
