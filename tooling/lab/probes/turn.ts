/** One turn of a probe: the script of the model, the tools and the reader, and the expectations. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Cast, Company, Framework, ProbeTool, Received, Turn } from "./framework.ts"
import { type Chunk, type Model, replies } from "./model.ts"
import { is, type Probe, until, withCompany } from "./probe.ts"
import { Ledger, toolbox } from "./toolbox.ts"

/** The events so far. */
export class Transcript {
  readonly events: Array<string> = []
  readonly outcomes: Record<string, Array<string>> = {}
  texts = 0
  /** Why the turn ended; `"cut"` on the probe's own timeout. */
  end = ""

  receive(received: Received): void {
    if (received.type === "text") this.texts++
    if (received.type === "outcome") (this.outcomes[received.callId] ??= []).push(received.outcome)
    if (received.type === "end") this.end = received.reason
    const outcome = received.type === "outcome" ? `${received.callId}:${received.outcome}` : received.type
    const tag = received.type === "other" ? received.name : outcome
    if (this.events.at(-1) !== tag) this.events.push(tag)
  }
}

/** Reads to the end, at most `cutMs`; `onReceived` may return `"leave"`. */
export const read = async (
  turn: Turn | undefined,
  transcript: Transcript,
  cutMs = 5_000,
  onReceived: (received: Received) => "leave" | undefined = () => undefined
): Promise<void> => {
  const { promise: cut, resolve } = Promise.withResolvers<"cut">()
  const timer = setTimeout(() => resolve("cut"), cutMs)
  const reading = async (): Promise<"read"> => {
    if (turn === undefined || turn instanceof Promise) throw new Error("the framework has no events")
    for await (const received of turn) {
      transcript.receive(received)
      if (onReceived(received) === "leave") break
    }
    return "read"
  }
  try {
    if ((await Promise.race([reading(), cut])) === "cut") transcript.end = "cut"
  } catch (error) {
    transcript.end = `threw ${error instanceof Error ? error.message : String(error)}`
  } finally {
    clearTimeout(timer)
  }
}

/** What a turn shows when it is over. */
interface Observation {
  readonly framework: Framework
  readonly folder: string
  readonly cast: Cast
  readonly company: Company
  readonly transcript: Transcript
  readonly ledger: Ledger
  readonly model: Model
}

/** The script of a turn, and what must be. */
export interface Script extends Pick<Cast, "toolTimeoutMs" | "isFatal"> {
  readonly replies: ReadonlyArray<ReadonlyArray<Chunk>>
  readonly tools?: (box: ReturnType<typeof toolbox>) => ReadonlyArray<ProbeTool>
  readonly cutMs?: number
  /** Called with each event; may leave. */
  readonly onReceived?: (received: Received, transcript: Transcript) => "leave" | undefined
  readonly cancelAfterMs?: number
  /** Reads the first so many pieces, and then idles. */
  readonly readsThenIdles?: number
  /** How long to wait for late effects. */
  readonly settleMs?: number
  /** What happens when the turn was read; returns a note about it, and the note that must be. */
  readonly afterwards?: (seen: Observation) => Promise<readonly [note: string, expected: string]>
  /** Each call has this outcome exactly once, and no other call has any. */
  readonly outcomes?: Readonly<Record<string, string>>
  readonly end?: string
  readonly withinMs?: number
  /** So many effects after the end, each reported. */
  readonly late?: number
  /** Whether the framework may read at most one word ahead of the reader. */
  readonly isAhead?: boolean
  readonly faults?: (seen: Observation) => ReadonlyArray<string>
}

const outcomesIn = ({ outcomes }: Transcript): string =>
  Object.entries(outcomes)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([id, all]) => `${id} ${all.join("+")}`)
    .join(", ")

const wrongOutcomes = ({ outcomes: seen }: Transcript, expected: Readonly<Record<string, string>>) => [
  ...Object.entries(expected).flatMap(([id, outcome]) =>
    is(seen[id]?.join("+") === outcome, `${id} is ${seen[id]?.join("+") ?? "nothing"}, not ${outcome}`)
  ),
  ...Object.keys(seen).flatMap((id) => is(id in expected, `${id} was never called`))
]

/** A probe of one turn. */
export const turn = (id: string, title: string, script: Script): Probe => ({
  id,
  title,
  isSlow: (script.cutMs ?? 0) > 10_000,
  run: (framework, folder) => {
    const model = replies(...script.replies)
    const ledger = new Ledger()
    const { toolTimeoutMs, isFatal = false, tools = () => [] } = script
    const role = { model, tools: tools(toolbox(ledger)) }
    const cast: Cast = { roles: { boss: role }, isFatal, ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }) }
    return withCompany(framework, cast, folder, async (company) => {
      const transcript = new Transcript()
      const start = ledger.now()
      const events = company.send("go")
      const { cancelAfterMs, late = 0 } = script
      const cancelling = cancelAfterMs === undefined ? undefined : sleep(cancelAfterMs).then(company.cancel)
      const leave = await readAsScripted(script, events, transcript)
      const wallMs = ledger.now() - start
      const detaches = framework.leaving === "detaches"
      if (!detaches || transcript.end !== "") ledger.endedMs = ledger.now()
      await Promise.race([cancelling, sleep(2_000)])
      await sleep(script.settleMs ?? 50)
      const seen: Observation = { framework, folder, cast, company, transcript, ledger, model }
      const [note, expected] = (await script.afterwards?.(seen)) ?? ["", ""]
      const ahead = model.pulled - transcript.texts
      await leave?.()
      // A turn may continue without its reader.
      if (detaches) await until(() => model.released === model.requests, 5_000)
      const { end } = transcript
      const reports = company.lateReports?.() ?? 0
      const figures = `${wallMs.toFixed(0)} ms, ${ledger.late} late, ${reports} reports, released ${model.released}/${model.requests}`
      return {
        seen: [outcomesIn(transcript), end, note, figures].filter((part) => part !== "").join("; "),
        faults: [
          ...(script.outcomes === undefined ? [] : wrongOutcomes(transcript, script.outcomes)),
          ...is(script.end === undefined || end === script.end, `ended ${end}, not ${script.end}`),
          ...is(wallMs <= (script.withinMs ?? Infinity), `took ${wallMs.toFixed(0)} ms, more than ${script.withinMs}`),
          ...is(model.requests === model.released, `${model.requests} streams opened, ${model.released} released`),
          ...is(script.end === undefined || ledger.late === late, `${ledger.late} late effects, not ${late}`),
          ...is(reports >= late, `${reports} late results reported, of ${late}`),
          ...is(script.isAhead !== true || detaches || ahead <= 1, `${ahead} words taken ahead`),
          ...is(note === expected, `${note}, not ${expected}`),
          ...(script.faults?.(seen) ?? [])
        ]
      }
    })
  }
})

/** Returns a function that leaves, for a reader that reads so many pieces and then idles. */
const readAsScripted = async (script: Script, events: Turn, transcript: Transcript) => {
  const { readsThenIdles, cutMs, onReceived } = script
  if (readsThenIdles === undefined || events instanceof Promise) {
    await read(events, transcript, cutMs, (received) => onReceived?.(received, transcript))
    return undefined
  }
  const iterator = events[Symbol.asyncIterator]()
  while (transcript.texts < readsThenIdles) {
    const next = await iterator.next()
    if (next.done === true) break
    transcript.receive(next.value)
  }
  await sleep(200)
  transcript.end = "idle"
  return async () => void (await iterator.return?.())
}
