/** The calls on the scripted adapter itself. */
import { Chat, Engine, Fake, user } from "@troupe/chat"
import { AdapterError } from "@troupe/chat/errors"
import { StreamCollector } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"
import { type Fields, fieldsOf, listOf, present } from "../../runner/json.ts"
import type { Observations } from "../behaviours.ts"
import { fakeOf, scriptOf } from "../engineOf.ts"
import { type Operation, type Outcome, read, settled, streamed, type StreamOutcome } from "../outcome.ts"
import { forms } from "../values/forms.ts"
import { noticeForm, retryOf } from "./retryOperations.ts"

/** A fake of a case; it fails at first, as often as the case says. */
interface CaseFake {
  readonly fake: Fake.Fake
  readonly failure?: unknown
  readonly cursor: { next: number }
  failing: number
}

const timeout = new AdapterError("timeout", { provider: "fake" })

/** A failure is a refusal, which is retried, or, streamed, an `error` event, which is not. */
const failing = (one: CaseFake, isGenerating: boolean): Adapter.Adapter => ({
  name: "fake",
  stream: (...args) => {
    if (one.failing === 0) return one.fake.stream(...args)
    one.failing--
    return Fake.make({ script: [isGenerating ? { preflightError: timeout } : { error: timeout }] }).stream(...args)
  }
})

const call = async (
  one: CaseFake,
  { kind, messages, consume, collect, opts }: Fields,
  { clock, system }: Observations
): Promise<Outcome> => {
  const isGenerating = kind === "generate"
  const before = one.fake.released
  const start = clock.now()
  const retryNotices: Array<Fields> = []
  const { retry, request_id: requestId } = fieldsOf(opts)
  const policy = retryOf(retry)
  const engine = Engine.make({ adapter: failing(one, isGenerating) })
  const thread = messages === undefined ? [user("hi")] : listOf(messages).map(forms.message.from)
  const opened = await settled(() =>
    Chat.streamGenerate(engine, thread, {
      system,
      includeRawChunks: true,
      retry: policy === false || one.failing === 0 ? false : { baseDelayMs: 0, jitterMs: 0, ...policy },
      ...present({ requestId: requestId as string | undefined }),
      onRetry: (notice) => void retryNotices.push(noticeForm(notice))
    })
  )
  if (opened.failure !== undefined) return { ...opened, retryNotices }
  const stream = await read(opened.ok as Chat.EventStream, consume)
  const { failure } = streamed(stream)
  if (failure !== undefined) return { failure, retryNotices }
  const response = forms.response.to(folded(stream).toResponse())
  return {
    ...(isGenerating ? { ok: response } : { stream, ...(collect === true ? { response } : {}) }),
    retryNotices,
    cleanupRuns: one.fake.released - before,
    elapsedMs: clock.now() - start
  }
}

const folded = ({ raw }: StreamOutcome): StreamCollector => {
  const collector = new StreamCollector()
  for (const event of raw) collector.apply(event)
  return collector
}

/** Calls fakes one after the other; each call's outcome is compared on its own. */
const calls: Operation = async ({ adapter_opts: options, engines, calls: list }, seen) => {
  const shared = { next: 0 }
  const isGenerating = listOf(list).every((one) => fieldsOf(one)["kind"] === "generate")
  const fakes = await Promise.all(
    listOf(options ?? engines).map(async (one): Promise<CaseFake> => {
      const { stream_script, script_cursor: kind, retry_until_call: until = 1 } = fieldsOf(one)
      const cursor = kind === "shared" ? shared : { next: 0 }
      const given = { ...fieldsOf(one), stream_script: isGenerating ? undefined : stream_script }
      const { ok: fake, failure } = await settled(() => fakeOf(given, seen, cursor))
      return { fake: fake as Fake.Fake, failure, cursor, failing: Number(until) - 1 }
    })
  )
  const each: Array<Outcome> = []
  for (const one of listOf(list).map(fieldsOf)) {
    const used = fakes[Number(one["with"] ?? 0)] as CaseFake
    each.push(used.failure === undefined ? await call(used, one, seen) : { failure: used.failure })
  }
  const requests = fakes[0]?.fake?.requests.map(forms.request.to) ?? []
  return { each, requests, cursorIndex: fakes[0]?.cursor.next }
}

/** One call of a fake with this script. */
const once = async (entries: unknown, kind: string, seen: Observations): Promise<Outcome> => {
  const { ok, failure } = await settled(() => Fake.make({ script: scriptOf(entries), clock: seen.clock }))
  if (failure !== undefined) return { failure }
  return call({ fake: ok as Fake.Fake, cursor: { next: 0 }, failing: 0 }, { kind }, seen)
}

/** The calls of this kind, by `when`. */
export const fakeOperations: Readonly<Record<string, Operation>> = {
  "fake.calls": calls,
  "facade.calls": calls,
  "fake.fold": ({ entries }, seen) => once(entries, "generate", seen),
  "fake.interpret": async ({ entry }, seen) => {
    const { stream } = await once([entry], "stream", seen)
    const events = stream?.events ?? []
    const own =
      "finish" in fieldsOf(entry)
        ? events.slice(1)
        : events.filter(([tag]) => !tag.startsWith("message_") && tag !== "text_completed")
    return { value: own }
  },
  "fake.validate": async ({ adapter_opts: options }, seen) => {
    const { failure } = await settled(() => fakeOf(fieldsOf(options), seen))
    return failure === undefined ? { value: "ok" } : { failure }
  }
}
