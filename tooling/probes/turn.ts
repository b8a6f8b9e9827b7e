/** One turn of a probe: the script of the model, the tools and the reader, and the observation. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Framework, Received, ProbeTool, Setup } from "./framework.ts"
import { Transcript, type Observation, observed, read, withConversation } from "./observe.ts"
import { type Chunk, ScriptedModel } from "./scriptedModel.ts"
import { Ledger, toolbox } from "./toolbox.ts"

type Box = ReturnType<typeof toolbox>

/** The script of a turn. */
export interface Script {
  readonly replies: ReadonlyArray<ReadonlyArray<Chunk>>
  readonly tools: (box: Box) => ReadonlyArray<ProbeTool>
  readonly setup?: Pick<Setup, "toolTimeoutMs" | "fatal">
  readonly cutMs?: number
  /** Called with each event; may leave. */
  readonly onReceived?: (received: Received, transcript: Transcript) => "leave" | undefined
  /** Cancels after so many milliseconds. */
  readonly cancelAfterMs?: number
  /** Whether unread words are counted: then the reply has only words. */
  readonly countsAhead?: boolean
  /** Reads the first so many pieces, and then idles. */
  readonly readsThenIdles?: number
  /** How long to wait for late effects. */
  readonly settleMs?: number
  readonly afterwards?: (
    conversation: Parameters<Parameters<typeof withConversation>[2]>[0],
    transcript: Transcript,
    ledger: Ledger
  ) => Promise<string | undefined>
}

/** Runs one turn. */
export const turn =
  (script: Script) =>
  async (framework: Framework): Promise<Observation> => {
    const model = new ScriptedModel(...script.replies)
    const ledger = new Ledger()
    const setup = { model, tools: script.tools(toolbox(ledger)), ...script.setup }
    return withConversation(framework, setup, async (conversation) => {
      const transcript = new Transcript()
      const start = ledger.now()
      const cpu = process.cpuUsage()
      const events = conversation.send("go")
      const cancelling =
        script.cancelAfterMs === undefined ? undefined : sleep(script.cancelAfterMs).then(conversation.cancel)
      const leave = await readAsScripted(script, events, transcript)
      const wallMs = ledger.now() - start
      const { user, system } = process.cpuUsage(cpu)
      const cpuMs = (user + system) / 1_000
      if (framework.leaving === "releases" || transcript.end !== "") ledger.endedMs = ledger.now()
      await Promise.race([cancelling, sleep(2_000)])
      await sleep(script.settleMs ?? 50)
      const note = await script.afterwards?.(conversation, transcript, ledger)
      const pulledAhead = script.countsAhead === true ? model.pulled - transcript.texts : undefined
      await leave?.()
      if (framework.leaving === "detaches") await goesOn(model)
      return observed(transcript, { model, ledger, conversation, wallMs, cpuMs, pulledAhead, note })
    })
  }

/** Waits for the end of a turn that continues without its reader. */
const goesOn = async (model: ScriptedModel): Promise<void> => {
  for (let waitedMs = 0; model.released < model.opened && waitedMs < 5_000; waitedMs += 20) await sleep(20)
}

/** Returns a function that leaves for a reader that only waits. */
const readAsScripted = async (script: Script, events: AsyncIterable<Received>, transcript: Transcript) => {
  const { readsThenIdles, cutMs = 5_000, onReceived } = script
  if (readsThenIdles !== undefined) return readSome(events, transcript, readsThenIdles)
  await read(events, transcript, cutMs, (received) => onReceived?.(received, transcript))
  return undefined
}

/** Reads so many pieces, and then idles. */
const readSome = async (
  events: AsyncIterable<Received>,
  transcript: Transcript,
  count: number
): Promise<() => Promise<void>> => {
  const iterator = events[Symbol.asyncIterator]()
  while (transcript.texts < count) {
    const next = await iterator.next()
    if (next.done === true) break
    transcript.receive(next.value)
  }
  await sleep(200)
  transcript.end = "idle"
  return async () => void (await iterator.return?.())
}
