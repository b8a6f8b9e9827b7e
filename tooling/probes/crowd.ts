/** Many conversations at once: two tools of 50 ms, then 50 words. */
import type { Framework } from "./framework.ts"
import { Transcript, type Observation, read } from "./observe.ts"
import type { Probe } from "./probe.ts"
import { call, calls, ScriptedModel, words } from "./scriptedModel.ts"
import { Ledger, toolbox } from "./toolbox.ts"

const reply = 50

/** Frameworks were measured from 2 to 43. */
const cpuMsEach = 5

const one = async (
  framework: Framework
): Promise<{ readonly transcript: Transcript; readonly model: ScriptedModel }> => {
  const model = new ScriptedModel(calls(call("a", "first"), call("b", "second")), words(reply))
  const box = toolbox(new Ledger())
  const conversation = await framework.start({ model, tools: [box.aware("first", 50), box.aware("second", 50)] })
  const transcript = new Transcript()
  await read(conversation.send("go"), transcript, 60_000)
  await conversation.close()
  return { transcript, model }
}

const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)

/** A probe with `count` conversations. */
export const crowdOf = (count: number): Probe => ({
  id: "crowd",
  title: `${count.toLocaleString("en")} conversations at once`,
  run: async (framework): Promise<Observation> => {
    const cpu = process.cpuUsage()
    const start = performance.now()
    const all = await Promise.all(Array.from({ length: count }, () => one(framework)))
    const wallMs = performance.now() - start
    const { user, system } = process.cpuUsage(cpu)
    const cpuMs = (user + system) / 1_000
    const outcomes = all.map(({ transcript }) => Object.values(transcript.outcomes).flat())
    const whole = all.filter(({ transcript }, index) => transcript.texts > 0 && outcomes[index]?.length === 2).length
    return {
      wallMs,
      events: [`${whole} whole`],
      outcomes: {},
      lateEffects: 0,
      lateReports: 0,
      opened: sum(all.map(({ model }) => model.opened)),
      released: sum(all.map(({ model }) => model.released)),
      pulledAhead: undefined,
      end: whole === count ? "completed" : "not all ended",
      cpuMs,
      note: `${(cpuMs / count).toFixed(2)} ms of processor time each`
    }
  },
  faults: ({ end, opened, released, cpuMs }) => [
    ...(end === "completed" ? [] : [end]),
    ...(opened === released ? [] : [`${opened} streams opened, ${released} released`]),
    ...(cpuMs <= cpuMsEach * count ? [] : [`took more than ${cpuMsEach} ms of processor time each`])
  ]
})
