/** The calls on the scripted adapter itself. */
import { Chat, Engine, Fake, user } from "@troupe/chat"
import { AdapterError } from "@troupe/chat/errors"
import { type AdapterEvent, StreamCollector } from "@troupe/chat/events"
import { Adapter, type Request } from "@troupe/chat/models"
import { Clock } from "@troupe/otp"
import { type Fields, fieldsOf, listOf, textOf } from "../../runner/fields.ts"
import type { RetryNotice } from "../../../../packages/chat/src/adapter/retryPolicy.ts"
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

/** Calls fakes one after the other; each call's outcome is compared on its own. */
const fakeCalls: Operation = async ({ adapter_opts: options, engines, calls }) => {
  const shared: { next: number } = { next: 0 }
  const cursors: Array<{ next: number }> = []
  const generating = listOf(calls).every((call) => fieldsOf(call)["kind"] === "generate")
  const made = listOf(options ?? engines).map((given) =>
    settled(() => {
      const cursor = fieldsOf(given)["script_cursor"] === "shared" ? shared : { next: 0 }
      cursors.push(cursor)
      const { script, scripts, stream_script: streamed, ...more } = fieldsOf(given)
      const said = generating ? { script, scripts } : { script, scripts, stream_script: streamed }
      return fakeOf({ ...more, ...said }, cursor)
    })
  )
  const fakes = await Promise.all(made)
  const transients = listOf(options ?? engines).map((given) => Number(fieldsOf(given)["retry_until_call"] ?? 1) - 1)
  const outcomes: Array<Outcome> = []
  for (const call of listOf(calls).map(fieldsOf)) {
    const index = Number(call["with"] ?? 0)
    const { ok: fake, failure } = fakes[index] ?? {}
    const isTransient = (transients[index] ?? 0) > 0
    const transient = () => (transients[index] ?? 0) > 0 && (transients[index] = (transients[index] ?? 0) - 1) >= 0
    const perform = () =>
      isTransient ? transientCall(fake as Fake.Fake, call, transient) : oneCall(fake as Fake.Fake, call)
    outcomes.push(failure === undefined ? await perform() : { failure })
  }
  const [first] = fakes
  const seen = first?.ok === undefined ? [] : (first.ok as Fake.Fake).requests.map(forms.request.to)
  return { each: outcomes, requests: seen, cursorIndex: cursors[0]?.next }
}

const oneCall = async (fake: Fake.Fake, { kind, messages, consume, collect }: Fields): Promise<Outcome> => {
  const before = fake.released
  const start = Clock.live.now()
  const opened = await settled(() => fake.stream(requestOf(messages), adapterOptions()))
  if (opened.failure !== undefined) return opened
  const stream = await read(opened.ok as never, consume)
  const collector = new StreamCollector()
  for (const event of stream.raw) collector.apply(event)
  const response = forms.response.to(collector.toResponse())
  return {
    ...(kind === "generate" ? { ok: response } : { stream, ...(collect === true ? { response } : {}) }),
    cleanupRuns: fake.released - before,
    elapsedMs: Clock.live.now() - start
  }
}

/** A call of a fake that fails at first: as a refusal, which is retried, or, streamed, as an `error` event, which is not. */
const transientCall = async (fake: Fake.Fake, call: Fields, fails: () => boolean): Promise<Outcome> => {
  const retryNotices: Array<Fields> = []
  const { messages, kind, opts, consume } = call
  const generating = kind === "generate"
  const adapter: Adapter.Adapter = {
    name: "fake",
    stream: (...args) => {
      if (!fails()) return fake.stream(...args)
      if (generating) throw new AdapterError("timeout", { provider: "fake" })
      return transientStream()
    }
  }
  const { retry, request_id: requestId } = fieldsOf(opts)
  const policy = retryOf(retry)
  const options = {
    retry: policy === false ? policy : { baseDelayMs: 0, jitterMs: 0, ...policy },
    ...(requestId === undefined ? {} : { requestId: textOf(requestId) }),
    onRetry: (notice: RetryNotice) => void retryNotices.push(noticeForm(notice))
  }
  const engine = Engine.make({ adapter })
  const thread = requestOf(messages).messages
  if (generating) {
    const made = await settled(async () => forms.response.to(await Chat.generate(engine, thread, options)))
    return { ...made, retryNotices }
  }
  const opened = await settled(() => Chat.streamGenerate(engine, thread, options))
  if (opened.failure !== undefined) return { ...opened, retryNotices }
  return { stream: await read(opened.ok as Chat.EventStream, consume), retryNotices }
}

async function* transientStream(): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  yield { type: "error", error: new AdapterError("timeout", { provider: "fake" }) }
}

/** The calls of this kind, by `when`. */
export const fakeOperations: Readonly<Record<string, Operation>> = {
  "fake.calls": fakeCalls,
  "facade.calls": fakeCalls,
  "fake.fold": ({ entries }) =>
    settled(async () => {
      const fake = Fake.make({ script: scriptOf(entries) })
      const { ok } = await oneCall(fake, { kind: "generate" })
      return ok
    }),
  "fake.interpret": async ({ entry }) => {
    const fake = Fake.make({ script: scriptOf([entry]) })
    const stream = await fake.stream(requestOf(undefined), adapterOptions())
    const { raw } = await read(Adapter.eventsOf(stream))
    const own =
      "finish" in fieldsOf(entry)
        ? raw.slice(1)
        : raw.filter((event) => !event.type.startsWith("message_") && event.type !== "text_completed")
    return { value: own.map(forms.event.to) }
  },
  "fake.validate": async ({ adapter_opts: options }) => {
    const { failure } = await settled(() => fakeOf(fieldsOf(options)))
    return failure === undefined ? { value: "ok" } : { failure }
  }
}
