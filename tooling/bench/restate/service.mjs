// The service of the comparison: calls of one key are exclusive. `word` stores the number of its calls. `slow` works for 3 seconds.
import { setTimeout as pause } from "node:timers/promises"
import * as restate from "@restatedev/restate-sdk"

const chat = restate.object({
  name: "chat",
  handlers: {
    word: async (context) => {
      const count = ((await context.get("count")) ?? 0) + 1
      context.set("count", count)
      return `${process.pid} ${count}`
    },
    slow: async (context) => {
      await context.run("work", () => pause(3_000))
      return String(process.pid)
    }
  }
})
await restate.serve({ services: [chat], port: Number(process.argv[2]), logger: () => {} })
process.send?.("ready")
