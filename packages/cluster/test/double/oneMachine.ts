/** A program without `cluster`: it runs a chat, and writes which modules of the engine were loaded, before and after. */
import { registerHooks } from "node:module"

const loaded: Array<string> = []
registerHooks({
  load: (url, context, nextLoad) => {
    if (!/\/effect\/dist\/cluster\/|\/src\/engine\/|\/sql-pg\//u.test(url)) return nextLoad(url, context)
    // The names of these modules are enough.
    loaded.push(url)
    return { format: "module", source: "", shortCircuit: true }
  }
})
const { Fake } = await import("@troupe/chat")
const { Cluster } = await import("@troupe/cluster")

const adapter = Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] })
const troupe = await Cluster.start({ adapter })
const chat = await troupe.chat("c")
const { finalResponse } = await chat.send("Hello").result()
await troupe.stop()
const without = loaded.length
await import("@troupe/cluster/EffectPlacement")
process.stdout.write(JSON.stringify({ text: finalResponse?.outputText, without, isSeen: loaded.length > 0 }))
