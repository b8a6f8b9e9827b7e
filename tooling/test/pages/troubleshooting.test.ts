import { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "@troupe/chat/errors"
import { expect, test } from "vitest"
import { readText } from "../../house/workspace.ts"

test("the page for troubleshooting has each reason of each error of a chat", () => {
  const page = readText("docs/troubleshooting.md")
  const errors = [AdapterError, EngineError, StreamError, ToolError, ValidationError, SessionError]
  const missing = errors.flatMap(({ name, reasons }) =>
    reasons.filter((reason) => !page.includes(`\`${reason}\``)).map((reason) => `${name}: ${reason}`)
  )
  expect(missing).toEqual([])
})
