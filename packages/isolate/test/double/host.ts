/**
 * A program that runs tools in places which never yield. It writes the ids of the places and of their programs to its output
 * as soon as they are busy, and then ends as its first argument says; with "wait" somebody else ends it.
 */
import { runToolCalls } from "@troupe/chat/tools"
import { System } from "@troupe/otp"
import { isolated, type Isolation } from "../../src/index.ts"
import { seen } from "./seen.ts"

const [how, isolation, places] = process.argv.slice(2)
const system = System.make()
const { tool, values } = seen(
  isolated({
    name: "busy",
    isolate: isolation as Isolation,
    module: new URL("./functions.ts", import.meta.url),
    export: "busyWithPrograms"
  })
)
const calls = Array.from({ length: Number(places) }, (_, n) => ({ id: `c${n}`, name: "busy", arguments: {} }))
const running = runToolCalls(calls, [tool], { system, maxConcurrency: calls.length })
running.catch(() => {})

while (values.length < calls.length) await new Promise<void>((resolve) => void setImmediate(resolve))
process.stdout.write(`${JSON.stringify(values)}\n`)
if (how === "throw") throw new Error("the host has a bug")
if (how === "stop") await System.stop(system)
if (how !== "wait") process.exit()
