import { expect, test } from "vitest"
import { titledLabel } from "../../../src/observer/tree/titledLabel.ts"

test("a chat is shown by its title, that of a sub-agent by the name of its agent, and another process by its label", () => {
  const titleOf = (chat: string) => (chat === "you/1" ? "A refund" : undefined)
  const shown = (label: string, chat?: string) =>
    titledLabel({ label, ...(chat === undefined ? {} : { chat }) }, titleOf)
  expect(shown("Chat you/1", "you/1")).toBe("Chat A refund")
  expect(shown("Chat you/2", "you/2")).toBe("Chat you/2")
  expect(shown("Chat you/1/~/web-researcher-ece11077f75b1104", "you/1/~/web-researcher-ece11077f75b1104")).toBe(
    "Chat web-researcher"
  )
  expect(shown("Store")).toBe("Store")
})
