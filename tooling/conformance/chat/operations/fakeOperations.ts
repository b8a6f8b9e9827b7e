/** The calls on the scripted adapter itself. */
import { Chat, Engine, Fake, user } from "@troupe/chat"
import { AdapterError } from "@troupe/chat/errors"
import { type AdapterEvent, StreamCollector } from "@troupe/chat/events"
import { Adapter, type Request } from "@troupe/chat/models"
import { type Fields, fieldsOf, listOf, present } from "../../runner/fields.ts"
import type { RetryNotice } from "../../../../packages/chat/src/adapter/retryPolicy.ts"
import type { Observations } from "../behaviours.ts"
import { fakeOf, scriptOf } from "../engineOf.ts"
import { type Operation, type Outcome, read, settled } from "../outcome.ts"
import { forms } from "../values/forms.ts"
import { noticeForm, retryOf } from "./retryOperations.ts"

const requestOf = (messages: unknown): Request => ({
  messages: messages === undefined ? [user("hi")] : listOf(messages).map(forms.message.from),
  tools: []
})

const adapterOptions = (): Adapter.AdapterOptions => ({
  signal: new AbortController().signal,
  requestId: "request",
  includeRawChunks: true,
  adapterOptions: {}
})

/** A fake of a case; it fails at first, as often as the case says. */
interface CaseFake {
  readonly fake: Fake.Fake
  readonly failure?: unknown
  readonly cursor: { next: number }
  failing: number
}

/** Calls fakes one after the other; each call's outcome is compared on its own. */
const fakeCalls: Operation = async ({ adapter_opts: options, engines, calls }, seen) => {
  const shared = { next: 0 }
  const isGenerating = listOf(calls).every((call) => fieldsOf(call)["kind"] === "generate")
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
  for (const call of listOf(calls).map(fieldsOf)) {
    const one = fakes[Number(call["with"] ?? 0)] as CaseFake
    if (one.failure !== undefined) each.push({ failure: one.failure })
    else each.push(await (one.failing > 0 ? transientCall(one, call, seen) : oneCall(one.fake, call, seen)))
  }
  return {
    each,
    requests: fakes[0]?.fake?.requests.map(forms.request.to) ?? [],
    cursorIndex: fakes[0]?.cursor.next
  }
}

const oneCall = async (
  fake: Fake.Fake,
  { kind, messages, consume, collect }: Fields,
  { clock }: Observations
): Promise<Outcome> => {
  const before = fake.released
  const start = clock.now()
  const opened = await settled(() => fake.stream(requestOf(messages), adapterOptions()))
  if (opened.failure !== undefined) return opened
  const stream = await read(opened.ok as never, consume)
  const collector = new StreamCollector()
  for (const event of stream.raw) collector.apply(event)
  const response = forms.response.to(collector.toResponse())
  return {
    ...(kind === "generate" ? { ok: response } : { stream, ...(collect === true ? { response } : {}) }),
    cleanupRuns: fake.released - before,
    elapsedMs: clock.now() - start
  }
}

/** A call of a fake that fails at first: as a refusal, which is retried, or, streamed, as an `error` event, which is not. */
const transientCall = async (
  one: CaseFake,
  { messages, kind, opts, consume }: Fields,
  { system }: Observations
): Promise<Outcome> => {
  const retryNotices: Array<Fields> = []
  const isGenerating = kind === "generate"
  const adapter: Adapter.Adapter = {
    name: "fake",
    stream: (...args) => {
      if (one.failing === 0) return one.fake.stream(...args)
      one.failing--
      if (isGenerating) throw new AdapterError("timeout", { provider: "fake" })
      return transientStream()
    }
  }
  const { retry, request_id: requestId } = fieldsOf(opts)
  const policy = retryOf(retry)
  const options = {
    system,
    retry: policy === false ? policy : { baseDelayMs: 0, jitterMs: 0, ...policy },
    ...present({ requestId: requestId as string | undefined }),
    onRetry: (notice: RetryNotice) => void retryNotices.push(noticeForm(notice))
  }
  const engine = Engine.make({ adapter })
  const thread = requestOf(messages).messages
  const made = await settled(async () =>
    isGenerating
      ? forms.response.to(await Chat.generate(engine, thread, options))
      : Chat.streamGenerate(engine, thread, options)
  )
  if (isGenerating || made.failure !== undefined) return { ...made, retryNotices }
  return { stream: await read(made.ok as Chat.EventStream, consume), retryNotices }
}

async function* transientStream(): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  yield { type: "error", error: new AdapterError("timeout", { provider: "fake" }) }
}

/** The calls of this kind, by `when`. */
export const fakeOperations: Readonly<Record<string, Operation>> = {
  "fake.calls": fakeCalls,
  "facade.calls": fakeCalls,
  "fake.fold": ({ entries }, seen) =>
    settled(async () => {
      const fake = Fake.make({ script: scriptOf(entries), clock: seen.clock })
      const { ok } = await oneCall(fake, { kind: "generate" }, seen)
      return ok
    }),
  "fake.interpret": async ({ entry }, seen) => {
    const fake = Fake.make({ script: scriptOf([entry]), clock: seen.clock })
    const stream = await fake.stream(requestOf(undefined), adapterOptions())
    const { raw } = await read(Adapter.eventsOf(stream))
    const own =
      "finish" in fieldsOf(entry)
        ? raw.slice(1)
        : raw.filter((event) => !event.type.startsWith("message_") && event.type !== "text_completed")
    return { value: own.map(forms.event.to) }
  },
  "fake.validate": async ({ adapter_opts: options }, seen) => {
    const { failure } = await settled(() => fakeOf(fieldsOf(options), seen))
    return failure === undefined ? { value: "ok" } : { failure }
  }
}
