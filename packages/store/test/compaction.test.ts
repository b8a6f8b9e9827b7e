import { expect, it } from "vitest"
import { Fake, Troupe } from "@troupe/chat"
import { Compaction } from "@troupe/chat/compaction"
import type { Request } from "@troupe/chat/models"
import { sqlite } from "../src/index.ts"

const words = "some words of a turn that is neither long nor short ".repeat(4)

/** The characters that a request shares with the one before: a provider's cache has them. */
const shared = (one: string, other: string): number => {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

it("PREFIX1: requests of 50 turns extend each other over a restart on SQLite, except after a compaction; 90 % of them are cached", async () => {
  const requests: Array<Request> = []
  const adapter: ReturnType<typeof Fake.make> = {
    ...Fake.make({ script: [] }),
    stream: (request, options) => {
      const isSummary = JSON.stringify(request.messages).includes("Write the summary.")
      if (!isSummary) requests.push(request)
      return Fake.make({ script: [{ text: isSummary ? "The summary." : words }, { finish: "stop" }] }).stream(
        request,
        options
      )
    }
  }
  const store = sqlite(":memory:")
  const start = () =>
    Troupe.start({
      adapter,
      store,
      instructions: words,
      compaction: Compaction.make({ maxTokens: 4_000, strategies: [Compaction.summarise()] })
    })
  let compactions = 0
  for (const turns of [25, 25]) {
    const troupe = await start()
    const chat = await troupe.chat("a")
    for (let turn = 0; turn < turns; turn++) {
      for await (const event of chat.send(words)) if (event.type === "thread_compacted") compactions++
    }
    await troupe.stop()
  }
  const texts = requests.map(({ messages }) => JSON.stringify(messages).slice(0, -1))
  const pairs = texts.slice(1).map((text, at) => [texts[at] ?? "", text] as const)
  expect(compactions).toBeGreaterThan(0)
  expect(pairs.filter(([before, text]) => !text.startsWith(before))).toHaveLength(compactions)
  const cached = pairs.reduce((sum, [before, text]) => sum + shared(before, text), 0)
  const sent = pairs.reduce((sum, [, text]) => sum + text.length, 0)
  expect(cached / sent).toBeGreaterThan(0.9)
  expect((await store.load("a"))?.thread.messages).toHaveLength(100)
  await store.close()
})
