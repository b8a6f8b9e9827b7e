/**
 * `node life.ts <module> <folder> <when> <life>`: a program that is killed in its first life, and continues in its second.
 *
 * `when` is `between`, after a write and before the next reply of the child, or `during`, after the effect of a write whose result is
 * not known.
 */
import { writeSync } from "node:fs"
import { join } from "node:path"
import { says } from "../scriptedModel.ts"
import type { AgentFramework, Cast } from "./agentFramework.ts"
import { charge, gives, recorded, uses } from "./scripts.ts"

const [module = "", folder = "", when = "between", life = "1"] = process.argv.slice(2)
const { framework } = (await import(module)) as { readonly framework: AgentFramework }

const now = (): Promise<void> => {
  writeSync(1, "now\n")
  return new Promise(() => {})
}

const isFirst = life === "1"
const cast: Cast = {
  roles: {
    boss: { model: gives({ c0: "research" }), agents: ["research"] },
    research: {
      model: uses("c1", "charge", () => {
        if (!isFirst) return says("found")
        void now()
        return [{ type: "hang" }]
      }),
      tools: [charge(recorded(join(folder, "ledger")), isFirst && when === "during" ? now : undefined)]
    }
  }
}

// Without a timer a program whose promises never settle ends by itself.
const awake = setInterval(() => {}, 1_000)
const company = await framework.start(cast, folder)
if (isFirst) await company.send("go")
else {
  const ended = await company.retry().catch((error: unknown) => ({ reason: "threw", text: String(error) }))
  writeSync(1, `${JSON.stringify({ ...ended, waiting: await company.waiting() })}\n`)
  await company.close()
}
clearInterval(awake)
