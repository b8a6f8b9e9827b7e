/**
 * The accidents of trees of agents, and the expected outcome of each. They are the same for every framework.
 *
 * A bound is an order of events, or a time in which the delay by the machine does not count (LAB16).
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises"
import { until } from "../delays.ts"
import { type Accident, endOf, saw, shown } from "./accident.ts"
import type { Cast, Company, Role } from "./framework.ts"
import { killed } from "./killed.ts"
import { calls, callWith, charge, gives, held, modelOf, replyTokens, says, uses } from "./model.ts"

/** A boss with one agent. */
const pair = (research: Role, more: Omit<Cast, "roles"> = {}): Cast => ({
  roles: { boss: { model: gives({ c0: "research" }), agents: ["research"] }, research },
  ...more
})

/** Words without end, for the time of a probe. */
const endless = Array.from({ length: 2_000 }, (_, at) => (at % 2 === 0 ? { text: "word " } : { delayMs: 5 }))

/** A boss that calls an agent for `go`, sends it `look left` for `tell`, and calls it again for `again <id>`. */
const mailing = (research: Role, more: Omit<Cast, "roles"> & { readonly isBackground?: boolean } = {}): Cast => {
  const { isBackground = false, ...cast } = more
  const model = modelOf(({ input, results }) => {
    if (results.length > 0) return says(`all: ${results.join(" and ")}`)
    if (input === "go") return callWith("research", { input: "dig" })
    if (input === "tell") return callWith("tell", { to: "research", message: "look left" })
    const id = /^again (\S+)/u.exec(input)?.[1]
    return id === undefined ? says("noted") : callWith("research", { input: "dig again", agent: id })
  })
  return { roles: { boss: { model, agents: ["research"], sendsMail: true, isBackground }, research }, ...cast }
}

const idIn = (text: string): string => /\[agent: (\S+)\]/u.exec(text)?.[1] ?? "nobody"

/** How often the message of the boss is in the threads of its agents. */
const timesRead = async ({ read }: Company): Promise<number> =>
  ((await read?.()) ?? []).filter((text) => text.endsWith("says:\nlook left")).length

const isAccepted = (text: string): boolean => /"receipt":"(?:delivered|pending)"/u.test(text)

const alone = ({ alive }: Company): boolean => (alive?.() ?? 0) === 0

/** All accidents, in the order of the table. */
export const accidents: ReadonlyArray<Accident> = [
  {
    id: "cancel",
    title: "cancel the parent while a tool of the child runs",
    must: "the turns of both end before the tool does, the tool gets the signal, and nothing happens afterwards",
    run: async ({ start }) => {
      const { tool, counts, release } = held("dig")
      const company = await start(pair({ model: uses("c1", "dig"), tools: [tool] }))
      const turn = endOf(company.send("go"))
      await until(() => counts.begun === 1)
      await company.cancel()
      const ended = await turn
      const isAlone = alone(company)
      release()
      await sleep(100)
      return saw(`${shown(ended)}; signals ${counts.signals}, effects afterwards ${counts.effects}`, {
        "the turn did not end": ended.reason !== "no end",
        "the tool got no signal": counts.signals === 1,
        "the tool of the child did its work": counts.effects === 0,
        "agents below the root still run": isAlone
      })
    }
  },
  {
    id: "stop",
    title: "stop the parent while the child streams",
    must: "the stream of the child is released, and no word is taken afterwards",
    run: async ({ start }) => {
      const model = modelOf(() => endless)
      const company = await start(pair({ model }))
      const turn = endOf(company.send("go"))
      await until(() => model.words > 3)
      await (company.stop ?? company.cancel)()
      await until(() => model.released === 1, 500)
      const { words } = model
      const isAlone = alone(company)
      await sleep(300)
      const late = model.words - words
      const ended = late === 0 ? await turn : { reason: "still streams", text: "" }
      return saw(`${shown(ended)}; streams released ${model.released} of ${model.requests}, words afterwards ${late}`, {
        "the child streams without a reader": model.released === model.requests && late === 0,
        "agents below the root still run": isAlone
      })
    }
  },
  {
    id: "hung",
    title: "the child never answers; its call has a deadline of 300 ms",
    must: "the parent reads that the time is over, and the stream of the child is released",
    run: async ({ start }) => {
      const model = modelOf(() => [{ hang: true }])
      const company = await start(pair({ model }, { deadlineMs: 300 }))
      const ended = await endOf(company.send("go"))
      await until(() => model.released === 1, 500)
      return saw(`${shown(ended)}; streams released ${model.released} of ${model.requests}`, {
        "the parent has no answer": ended.text.includes("all: "),
        "the request of the child is still open": model.released === model.requests
      })
    }
  },
  {
    id: "child",
    title: "the child dies once in its request",
    must: "the child is started again, and the parent gets its answer",
    run: async ({ start }) => {
      // Without a process of its own a child dies by an exception in its request.
      let canKill = true
      const dies = () => [canKill ? { hang: true as const } : { crash: new Error("the connection is broken") }]
      const model = modelOf((_, count) => (count > 1 ? says("found") : dies()))
      const company = await start(pair({ model }))
      canKill = company.kill !== undefined
      const turn = endOf(company.send("go"))
      await until(() => model.requests === 1)
      company.kill?.("child")
      const ended = await turn
      return saw(`${shown(ended)}; ${model.requests} requests of the child`, {
        "the parent has no answer": ended.text.includes("all: found")
      })
    }
  },
  {
    id: "parent",
    title: "the process of the parent dies while the child works",
    must: "the child ends too; a retry continues the same child, and no write runs twice",
    run: async ({ start }) => {
      let charges = 0
      const model = uses("c1", "charge", (_, count) => (count === 2 ? [{ hang: true }] : says("found")))
      const company = await start(pair({ model, tools: [charge(() => charges++)] }))
      const turn = endOf(company.send("go"))
      await until(() => model.requests === 2)
      company.kill?.("root")
      const died = await turn
      const isAlone = await until(() => alone(company))
      const ended = await endOf(company.retry?.())
      return saw(`${shown(died)}; then ${shown(ended)}; ${charges} writes`, {
        "the task is lost": ended.text.includes("all: found"),
        [`${charges} writes`]: charges === 1,
        "agents below the root still run": isAlone
      })
    }
  },
  ...(["between", "during"] as const).map((when): Accident => ({
    id: `kill-${when}`,
    title: `kill -9 of the program ${when === "between" ? "after" : "during"} a write of the child`,
    must:
      when === "between"
        ? "the next start continues the same child, and the write does not run again"
        : "the write does not run again; somebody is asked, or the model reads that the effect is unknown",
    isSlow: true,
    run: async ({ framework, folder }) => {
      const { charges, waiting, ...ended } = await killed(framework.module ?? "", folder, when)
      const asks = waiting.length === 0 ? "" : `; waits for a decision about ${waiting.join(", ")}`
      return saw(`${shown(ended)}${asks}; ${charges} writes`, {
        [`${charges} writes`]: charges === 1,
        "the task is lost": ended.text.includes("all: found") || (when === "during" && waiting.length === 1)
      })
    }
  })),
  {
    id: "budget",
    title: "two parallel children overspend the budget of the parent",
    must: "the children overspend it by at most one request each",
    run: async ({ start }) => {
      const budget = 200
      const model = modelOf((_, count) => (count > 40 ? says("found") : calls({ [`l${count}`]: "look" })))
      const boss = gives({ c0: "research", c1: "research" })
      const research = { model, tools: [{ name: "look", run: () => sleep(5, "nothing") }] }
      const company = await start({ roles: { boss: { model: boss, agents: ["research"] }, research }, budget })
      const ended = await endOf(company.send("go"))
      const spent = (boss.requests + model.requests) * replyTokens
      return saw(`${shown(ended)}; ${spent} tokens of ${budget}`, {
        [`${spent} tokens were spent of ${budget}`]: spent <= budget + 2 * replyTokens,
        [`ended ${ended.reason}`]: ended.reason.includes("budget")
      })
    }
  },
  {
    id: "approval",
    title: "an approval two levels down, with a restart between",
    must: "the root lists it before and after the restart; the call runs once, and its answer comes back",
    run: async ({ start }) => {
      let charges = 0
      const tool = { ...charge(() => charges++), isApproved: true }
      const cast = (): Cast => ({
        roles: {
          boss: { model: gives({ c0: "lead" }), agents: ["lead"] },
          lead: { model: gives({ c1: "worker" }), agents: ["worker"] },
          worker: { model: uses("c7", "charge"), tools: [tool] }
        }
      })
      const former = await start(cast())
      const first = await endOf(former.send("go"))
      const before = (await former.waiting?.()) ?? []
      const company = await start(cast())
      const waiting = (await company.waiting?.()) ?? []
      const [address] = waiting
      const ended = await endOf(address === undefined ? undefined : company.allow?.(address))
      return saw(`${shown(first)}; lists ${waiting.join(", ") || "nothing"}; then ${shown(ended)}; ${charges} writes`, {
        "the root does not list it": before.length === 1 && waiting.length === 1,
        [`${charges} writes`]: charges === 1,
        "the task is lost": ended.text.includes("found")
      })
    }
  },
  {
    id: "background",
    title: "a background task ends after its root was unloaded",
    must: "the call returns at once; the end is reported once and answered, also after a restart",
    run: async ({ start }) => {
      const model = modelOf(({ input, results }) =>
        input !== "go" ? says("reported") : results.length === 0 ? calls({ c0: "crawl" }) : says("started")
      )
      const { tool, release } = held("crawl")
      const cast: Cast = { roles: { boss: { model, tools: [{ ...tool, isBackground: true }] } }, unloadMs: 50 }
      const started = await endOf((await start(cast)).send("go"))
      await sleep(500)
      release()
      await until(() => model.requests === 3, 5_000)
      const company = await start(cast)
      await sleep(300)
      const texts = (await company.said?.()) ?? []
      const reports = texts.filter((text) => text.includes("done") && text.includes("crawl")).length
      return saw(`${shown(started)}; ${reports} reports, last text "${texts.at(-1) ?? ""}"`, {
        "the call waited for the end of its work": started.reason !== "no end",
        [`${reports} reports`]: reports === 1,
        "the report has no answer": texts.at(-1) === "reported"
      })
    }
  },
  {
    id: "child-background",
    title: "a background task of a child ends after the reply of the child",
    must: "the call of the child ends with the task, and its result is what the child says of the end",
    run: async ({ start }) => {
      const { tool, counts, release } = held("dig")
      const model = modelOf(({ input, results }) =>
        input.includes("has ended: done") ? says("found") : results.length === 0 ? calls({ c1: "dig" }) : says("begun")
      )
      const research = { model, tools: [{ ...tool, isBackground: true }] }
      const company = await start({
        roles: { boss: { model: gives({ c0: "research" }), agents: ["research"] }, research }
      })
      const turn = endOf(company.send("go"))
      await until(() => counts.begun === 1 && model.requests === 2)
      await sleep(100)
      const wasOver = alone(company)
      release()
      const ended = await turn
      return saw(`${shown(ended)}; ${model.requests} requests of the child`, {
        "the call was over before the task": !wasOver,
        "the child did not read the end": ended.text.includes("all: found")
      })
    }
  },
  {
    id: "tell-running",
    title: "tell a running agent something",
    must: "the call returns a receipt while the agent works; the agent reads the message once, before its answer",
    run: async ({ start }) => {
      const { tool, counts, release } = held("dig")
      const model = uses("c1", "dig")
      const company = await start(mailing({ model, tools: [tool] }, { isBackground: true }))
      await endOf(company.send("go"))
      await until(() => counts.begun === 1)
      const sent = await endOf(company.send("tell"))
      release()
      const wasRead = await until(async () => (await timesRead(company)) === 1)
      return saw(`${shown(sent)}; read ${await timesRead(company)} times`, {
        "no receipt": isAccepted(sent.text),
        "it was not read once": wasRead
      })
    }
  },
  ...(["finished", "unloaded", "moved"] as const).map((state): Accident => ({
    id: `tell-${state}`,
    title: `tell ${state === "unloaded" ? "an unloaded" : `a ${state}`} agent something, and continue it`,
    must: "the call returns a receipt, and the agent has read the message once when it answers again",
    run: async ({ start }) => {
      const cast = () => mailing({ model: modelOf(() => says("found")) }, state === "unloaded" ? { unloadMs: 50 } : {})
      let company = await start(cast())
      const first = await endOf(company.send("go"))
      if (state === "unloaded") await sleep(500)
      if (state === "moved") company = await start(cast())
      const sent = await endOf(company.send("tell"))
      if (state === "moved") company = await start(cast())
      const ended = await endOf(company.send(`again ${idIn(first.text)}`))
      const times = await timesRead(company)
      return saw(`${shown(sent)}; read ${times} times; then ${shown(ended)}`, {
        "no receipt": isAccepted(sent.text),
        [`it was read ${times} times`]: times === 1,
        "it did not continue": ended.text.includes("found")
      })
    }
  })),
  {
    id: "tell-dead",
    title: "tell an agent something whose process has died, and one that never was",
    must: "the agent reads the message once after its restart; the other message is refused with its reason",
    run: async ({ start }) => {
      const { tool, counts, release } = held("dig")
      const model = uses("c1", "dig")
      const company = await start(mailing({ model, tools: [{ ...tool, isRead: true }] }, { isBackground: true }))
      const nobody = await endOf(company.send("tell"))
      await endOf(company.send("go"))
      await until(() => counts.begun === 1)
      company.kill?.("child")
      const sent = await endOf(company.send("tell"))
      release()
      const wasRead = await until(async () => (await timesRead(company)) === 1)
      return saw(`${shown(nobody)}; then ${shown(sent)}; read ${await timesRead(company)} times`, {
        "the unknown agent is no typed refusal": nobody.text.includes('"reason":"unknown_agent"'),
        "no receipt": isAccepted(sent.text),
        "it was not read once": wasRead
      })
    }
  },
  {
    id: "interrupt",
    title: "cancel a turn of the parent while a background agent works",
    must: "the turn ends at once; the agent goes on, and its end is reported once",
    run: async ({ start }) => {
      const { tool, counts, release } = held("dig")
      const boss = modelOf(({ input, results }) => {
        if (input === "hang") return [{ hang: true }]
        return input === "go" && results.length === 0 ? callWith("research", { input: "dig" }) : says("noted")
      })
      const research = { model: uses("c1", "dig"), tools: [tool] }
      const company = await start({
        roles: { boss: { model: boss, agents: ["research"], isBackground: true }, research }
      })
      await endOf(company.send("go"))
      await until(() => counts.begun === 1)
      const turn = endOf(company.send("hang"))
      await until(() => boss.requests === 3)
      await company.cancel()
      const ended = await turn
      release()
      const reports = async () =>
        ((await company.said?.()) ?? []).filter((text) => text.includes("has ended: done")).length
      await until(async () => (await reports()) === 1)
      return saw(`${shown(ended)}; effects ${counts.effects}; ${await reports()} reports`, {
        "the turn did not end": ended.reason === "cancelled",
        "the agent was cancelled": counts.effects === 1,
        [`${await reports()} reports`]: (await reports()) === 1
      })
    }
  },
  {
    id: "background-question",
    title: "a background agent asks for an approval, with a restart before the answer",
    must: "the turn of the parent ends; the root lists the wait before and after the restart; the call runs once",
    run: async ({ start }) => {
      let charges = 0
      const tool = { ...charge(() => charges++), isApproved: true }
      const cast = () => mailing({ model: uses("c7", "charge"), tools: [tool] }, { isBackground: true })
      const former = await start(cast())
      const first = await endOf(former.send("go"))
      const listed = async (company: Company) => (await company.waiting?.()) ?? []
      await until(async () => (await listed(former)).length === 1)
      const before = await listed(former)
      const company = await start(cast())
      const waiting = await listed(company)
      await endOf(waiting[0] === undefined ? undefined : company.allow?.(waiting[0]))
      const isReported = await until(async () =>
        ((await company.said?.()) ?? []).some((text) => text.includes("has ended: done"))
      )
      return saw(`${shown(first)}; lists ${waiting.join(", ") || "nothing"}; ${charges} writes`, {
        "the turn of the parent waited": first.reason === "completed",
        "the root does not list it": before.length === 1 && waiting.length === 1,
        [`${charges} writes`]: charges === 1,
        "its end is not reported": isReported
      })
    }
  },
  {
    id: "rewind",
    title: "continue a child after its parent was rewound to the turn that began it",
    must: "the same child answers, with its whole conversation",
    run: async ({ start }) => {
      const company = await start(mailing({ model: modelOf((_, count) => says(`found ${count}`)) }))
      const first = await endOf(company.send("go"))
      await endOf(company.send("more"))
      await company.rewind?.()
      const said = (await company.said?.()) ?? []
      const ended = await endOf(company.send(`again ${idIn(first.text)}`))
      const read = (await company.read?.()) ?? []
      return saw(`${shown(ended)}; its thread: ${read.join(", ")}`, {
        "the parent was not rewound": !said.includes("more"),
        "another child answered": read.join(", ") === "dig, found 1, dig again, found 2"
      })
    }
  },
  {
    id: "cycle",
    title: "an agent asks the parent whose call waits for it",
    must: "the question is refused at once, and the error names the cycle",
    run: async ({ start }) => {
      const model = modelOf(({ results }) =>
        results.length > 0 ? says(results.join(" ")) : callWith("ask", { to: "parent", message: "which one" })
      )
      const company = await start(mailing({ model, sendsMail: true }))
      const ended = await endOf(company.send("go"))
      return saw(shown(ended), {
        "the parent has no answer": ended.reason === "completed",
        "the cycle is not named": /wait for each other: research-\w+ → .* → research-/u.test(ended.text)
      })
    }
  }
]
