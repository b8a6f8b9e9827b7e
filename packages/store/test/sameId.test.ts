/** The id of an input, in a database that two programs use one after the other. */
import { Fake, Troupe } from "@troupe/chat"
import { expect, test } from "vitest"
import { sqlite } from "../src/index.ts"
import { Folder } from "./double/folder.ts"

test("ARR5 with SQLite the same id with another text is refused by the next program too", async () => {
  using folder = new Folder()
  const path = folder.file()
  const adapter = Fake.make({ script: [{ text: "fine" }, { finish: "stop" }] })
  const start = async () => {
    const store = sqlite(path)
    const troupe = await Troupe.start({ adapter, store })
    return { chat: await troupe.chat("c"), over: () => troupe.stop().then(() => store.close()) }
  }
  const first = await start()
  await first.chat.send("pay 5", { id: "x" }).result()
  await first.over()
  const { chat, over } = await start()
  expect(() => chat.send("pay 900", { id: "x" })).toThrow("names_another_input")
  await expect(chat.send("pay 5", { id: "x" }).result()).rejects.toMatchObject({ reason: "already_delivered" })
  await over()
})
