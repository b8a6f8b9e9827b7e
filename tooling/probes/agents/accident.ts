/** One accident of a tree of agents, and what its runs have in common. */
import { setTimeout as sleep } from "node:timers/promises"
import { is } from "../expected.ts"
import type { AgentFramework, Cast, Company, Ended } from "./agentFramework.ts"
import { gives } from "./scripts.ts"

/** What was seen, and in what it differs from what must be. */
export interface Seen {
  readonly seen: string
  readonly faults: ReadonlyArray<string>
}

/** One row of the table. */
export interface Accident {
  readonly id: string
  readonly title: string
  readonly must: string
  /** Whether it starts other programs. */
  readonly isSlow?: boolean
  readonly run: (framework: AgentFramework, folder: string) => Promise<Seen>
}

const longestMs = 8_000

/** The end of a turn, or what prevented it. The timer keeps the program awake meanwhile. */
export const endOf = async (turn: Promise<Ended>): Promise<Ended> => {
  const over = new AbortController()
  const failed = (error: unknown): Ended => ({
    reason: "threw",
    text: error instanceof Error ? error.message : String(error)
  })
  try {
    return await Promise.race([
      turn.catch(failed),
      sleep(longestMs, { reason: "no end", text: "" }, { signal: over.signal })
    ])
  } finally {
    over.abort()
  }
}

/** The end of a turn in one line. */
export const shown = ({ reason, text }: Ended): string => (text === "" ? reason : `${reason}, "${text.slice(0, 120)}"`)

/** Waits until the condition holds, and returns whether it does. */
export const until = async (holds: () => boolean, ms = 2_000): Promise<boolean> => {
  for (let waited = 0; waited < ms && !holds(); waited += 5) await sleep(5)
  return holds()
}

/** Starts a root agent, and always ends it. */
export const withCompany = async <A>(
  framework: AgentFramework,
  cast: Cast,
  folder: string,
  use: (company: Company) => Promise<A>
): Promise<A> => {
  const company = await framework.start(cast, folder)
  try {
    return await use(company)
  } finally {
    await Promise.race([company.close(), sleep(2_000, undefined, { ref: false })])
  }
}

/** The faults of a turn that must have this text. */
export const answers = (ended: Ended, text: string): ReadonlyArray<string> =>
  is(ended.text.includes(text), `ended with ${shown(ended)}`)

/** The fault of agents that still run below the root. */
export const noChild = ({ alive = () => 0 }: Company): ReadonlyArray<string> =>
  is(alive() === 0, `${alive()} agents below the root still run`)

/** A boss with one agent. */
export const pair = (research: Cast["roles"][string], more: Omit<Cast, "roles"> = {}): Cast => ({
  roles: { boss: { model: gives({ c0: "research" }), agents: ["research"] }, research },
  ...more
})

/** The milliseconds that the work takes. */
export const timeOf = async <A>(work: Promise<A>): Promise<readonly [A, number]> => {
  const start = performance.now()
  return [await work, performance.now() - start]
}
