import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import { memory } from "../../src/store/Store.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, says } from "../double/scripts.ts"

const check = leakCheck()

test.each(["cancelToolCall", "restartToolCall"] as const)(
  "`%s` rejects with `chat_died` when the process dies first",
  async (verb) => {
    const deaf = handling("deaf", () => new Promise(() => {}))
    const adapter = check.fake({ scripts: [calls("deaf"), says("done")] })
    const { troupe } = await check.troupe({ adapter, store: memory(), tools: [deaf] })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => chat.getSnapshot()?.context.toolCalls[0]?.status === "running")
    const controlled = chat[verb]("c0").then(
      () => "resolved",
      (error: { readonly reason?: unknown }) => error.reason
    )
    if (chat.pid !== undefined) Process.kill(chat.pid)
    expect(await controlled).toBe("chat_died")
    await turn.ended
  }
)
