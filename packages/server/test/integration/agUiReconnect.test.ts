import * as earlier from "@ag-ui/client-0.0.59"
import * as current from "@ag-ui/client"
import { EventSchemas } from "@ag-ui/core/schemas"
import { expect, it } from "@effect/vitest"
import { Troupe } from "@troupe/chat"
import { Effect, Schema } from "effect"
import { runsOf } from "../../../../tooling/verify/volume.ts"
import { AgUi } from "../../src/index.ts"
import * as Server from "../../src/server/Server.ts"
import { mixedReply } from "../double/mixedReply.ts"
import { turn } from "../double/served.ts"

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** One connection: after how many frames it breaks, and how long the client waits before the next one. */
const Cut = Schema.Struct({
  frames: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 24 })),
  ends: Schema.Boolean,
  wait: Schema.Literals([0, 1, 3, 20])
})

/** A connection that breaks after so many frames: with an error, as by an abort, or with an early end, as by a proxy. */
const broken = (response: Response, { frames, ends }: typeof Cut.Type): Response => {
  const reader = response.body?.getReader()
  let left = frames
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (left-- === 0) {
          await reader?.cancel()
          return ends ? controller.close() : controller.error(new DOMException("cut", "AbortError"))
        }
        const read = await reader?.read()
        if (read?.done === false) controller.enqueue(read.value)
        else controller.close()
      },
      cancel: () => reader?.cancel()
    },
    { highWaterMark: 0 }
  )
  return new Response(body, response)
}

const Story = Schema.Struct({
  cuts: Schema.Array(Cut).check(Schema.isMaxLength(8)),
  pause: Schema.Literals([0, 1, 2]),
  version: Schema.Literals(["1.0", "0.0.59"])
})

const turns = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at++) await turn()
}

const where = { name: "where", description: "Where the user is", parameters: { type: "object", properties: {} } }

/** A message without the id that a client gave the result of its own tool. */
const plain = (messages: unknown): ReadonlyArray<object> =>
  (JSON.parse(JSON.stringify(messages)) as ReadonlyArray<{ readonly role: string }>).map((message) =>
    message.role === "tool" ? { ...message, id: "result" } : message
  )

it.effect.prop(
  "AGUIRUN1, AGUISTATE3. wherever connections break, a client that runs again misses nothing and repeats nothing",
  { story: Story },
  ({ story: { cuts, pause, version } }) =>
    Effect.promise(async () => {
      let requests = 0
      const model = mixedReply(() => turns(pause))
      const troupe = await Troupe.start({
        adapter: {
          ...model,
          stream: (request, options) => {
            requests += 1
            return model.stream(request, options)
          }
        },
        hooks: {
          PreIteration: [({ iteration }, { context }) => AgUi.of(context)?.setState({ page: "maps", iteration })]
        }
      })
      const server = Server.make({ troupe, authorize: () => ({ owner: "anna" }), limits: { requestsPerMinute: 1e6 } })
      const left = [...cuts]
      let wait = 0
      const fetch: Fetch = async (url, init) => {
        const response = await server.fetch(new Request(url, init))
        const cut = left.shift()
        wait = cut?.wait ?? 0
        return cut === undefined || !response.ok ? response : broken(response, cut)
      }
      const options = { url: "http://localhost/ag-ui", threadId: "c", fetch }
      const agent = version === "1.0" ? new current.HttpAgent(options) : new earlier.HttpAgent(options)
      const schemas = version === "1.0" ? EventSchemas : earlier.EventSchemas
      let isFinished = false
      const unknown: Array<object> = []
      const subscriber = {
        onEvent: ({ event }: { readonly event: object }) => {
          if (!schemas.safeParse(event).success) unknown.push(event)
        },
        onRunFinishedEvent: () => {
          isFinished = true
        }
      }
      /** Runs until a run is finished: a broken one is run again. */
      const run = async (): Promise<void> => {
        isFinished = false
        for (;;) {
          await agent.runAgent({ tools: [where] }, subscriber)
          if (isFinished) return
          await turns(wait)
        }
      }
      agent.setState({ page: "maps" })
      agent.addMessage({ id: "u1", role: "user", content: "Show me" })
      await run()
      agent.addMessage({ id: "t1", role: "tool", toolCallId: "c0", content: "Oslo" })
      await run()
      left.length = 0
      await run()
      expect(unknown).toEqual([])
      expect(requests).toBe(2)
      expect(agent.state).toEqual({ page: "maps", iteration: 0 })
      const chat = await troupe.chat("anna/c")
      expect(chat.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
      const other = version === "1.0" ? new current.HttpAgent(options) : new earlier.HttpAgent(options)
      await other.runAgent({}, subscriber)
      expect(agent.messages.map(({ id }) => id)).toContain("t1")
      expect(plain(agent.messages)).toEqual(plain(other.messages))
      expect(plain(other.messages)).toMatchObject([
        { id: "u1", role: "user" },
        { id: "u1.reply.1.reasoning", content: "Let me see" },
        {
          id: "u1.reply.1",
          content: "A picture",
          toolCalls: [{ id: "c0", function: { arguments: '{"exact":true}' } }]
        },
        { id: "u1.reply.1.part.1", activityType: "troupe.file" },
        { id: "u1.reply.1.part.2", activityType: "troupe.source" },
        { role: "tool", toolCallId: "c0", content: "Oslo" },
        { id: "u1.reply.2", content: "In Oslo" }
      ])
      await server.close()
      await troupe.stop()
    }),
  { ...runsOf(60), timeout: 120_000 }
)
