import { test } from "vitest"
import { Troupe } from "@troupe/chat"
import { Process, Observer, System } from "@troupe/otp"
import { scriptedModel } from "../src/scriptedModel.ts"
import { makeTools } from "../src/tools.ts"
import { makeProgressBoard } from "../src/progress.ts"
test("x", async () => {
  const progress = makeProgressBoard()
  const system = System.make({ name: "demo", onCrash: (r) => console.log("crash", r.message) })
  const troupe = await Troupe.start({ adapter: scriptedModel({ folder: "/", wordDelayMs: 0 }), tools: makeTools({ progress }), system })
  const chat = await troupe.chat("demo")
  const consume = async (name: string, turn: AsyncIterable<{ type: string }>) => {
    try { for await (const e of turn) console.log(name, e.type) } catch (error) { console.log(name, String(error)) }
    console.log(name, "over")
  }
  const one = consume("one", chat.send("wait for 1 seconds"))
  await new Promise((r) => setTimeout(r, 300))
  const pid = chat.pid
  if (pid) Process.kill(pid)
  await one; await new Promise((r) => setTimeout(r, 300)); console.log("pid", String(chat.pid))
  const two = (async () => {
   for await (const e of chat.retry()) { console.log("two", e.type); if (e.type === "text_delta" && "delta" in e && e.delta.includes("seconds")) { console.log("cancelling"); void chat.cancel().then(() => console.log("cancelled")) } }
   console.log("two over")
  })()
  await two
  console.log(Observer.format(Observer.tree(system)))
  console.log("stop"); await troupe.stop(); console.log("stopped troupe", System.stats(system)); await System.stop(system); console.log("stopped system")
})
