import { expect, test } from "vitest"
import * as Codec from "../../src/session/Codec.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { calls, handling, says } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

/** Keeps records as text. */
const textStore = (texts: Map<string, string>): RecordStore => ({
  load: (id) => {
    const text = texts.get(id)
    return text === undefined ? undefined : Codec.decode("ChatRecord", text)
  },
  save: (record) => void texts.set(record.id, Codec.encode("ChatRecord", record)),
  delete: (id) => void texts.delete(id)
})

test("CODEC1 a chat stored as text in the middle of a manual cycle goes on elsewhere", async () => {
  const store = textStore(new Map())
  const tools = [make({ name: "pay", manual: true })]
  const first = await Troupe.start({ adapter: Fake.make({ scripts: [calls(["pay", { amount: 3 }])] }), tools, store })
  const halted = await (await first.chat("a")).send("Pay it").result()
  await first.stop()

  const second = await Troupe.start({ adapter: Fake.make({ scripts: [says("Paid.")] }), tools, store })
  const chat = await second.chat("a")
  const [pending] = chat.getSnapshot()?.context.pendingToolCalls ?? []
  expect(pending).toEqual(halted.pendingToolCalls[0])
  const done = await chat.submitToolResults({ [pending?.id ?? ""]: { paid: 3 } }).result()
  expect(done).toMatchObject({ haltedReason: "completed", finalResponse: { outputText: "Paid." } })
  await second.stop()
})

test("CODEC1 a chat stored as text with a question open is asked and answered elsewhere", async () => {
  const store = textStore(new Map())
  const tools = [handling("ask", () => askUser("Which?", { choices: ["a", "b"] }))]
  const first = await Troupe.start({ adapter: Fake.make({ scripts: [calls("ask")] }), tools, store })
  const halted = await (await first.chat("a")).send("Choose").result()
  await first.stop()

  const second = await Troupe.start({ adapter: Fake.make({ scripts: [says("b it is.")] }), tools, store })
  const chat = await second.chat("a")
  expect(chat.getSnapshot()?.context.pendingQuestion).toEqual(halted.pendingQuestion)
  expect((await chat.send("b").result()).finalResponse?.outputText).toBe("b it is.")
  await second.stop()
})
