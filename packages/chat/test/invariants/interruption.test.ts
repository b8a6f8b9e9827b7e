import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import * as Codec from "../../src/session/Codec.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import { askUser, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import type { Hooks } from "../../src/gate/Hooks.ts"
import * as Message from "../../src/model/Message.ts"
import { memory } from "../double/savingStore.ts"
import { make } from "../../src/tool/Tool.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, says } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

const kill = ({ pid }: LocalChatRef): void => {
  if (pid === undefined) throw new Error("no process")
  Process.kill(pid)
}

const shown = (chat: LocalChatRef) => {
  const { phase, partial } = chat.getSnapshot()?.context ?? {}
  return [phase, partial?.text]
}

const said = (chat: LocalChatRef) => chat.thread.messages.map(({ content }) => content)

/** A store of whole records, and all it was asked to keep. */
const records = (...first: ReadonlyArray<Conversation>) => {
  const saved: Array<Conversation> = [...first]
  const store: RecordStore = {
    load: (id) => {
      const record = saved.findLast((one) => one.id === id)
      return record && Codec.decode("ChatRecord", Codec.encode("ChatRecord", record))
    },
    save: (record) => void saved.push(record),
    delete: () => {}
  }
  return { store, saved }
}

const cutShort: Conversation = {
  id: "c",
  thread: { messages: [Message.user("go")] },
  usage: {},
  running: true,
  draft: "Once upon",
  pendingToolCalls: []
}

/** A chat whose reply has said "Once upon", and whose process then died. */
const interrupted = async (store: RecordStore = memory()) => {
  const adapter = handAdapter()
  const made = await check.troupe({ adapter, store })
  const chat = await made.troupe.chat("c")
  const turn = chat.send("go")
  await until(() => adapter.streams.length === 1)
  adapter.streams[0]?.text("Once upon")
  await until(() => shown(chat)[1] === "Once upon")
  kill(chat)
  await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
  await until(() => chat.pid !== undefined)
  const answer = async (place: number) => {
    await until(() => adapter.streams.length === place + 1)
    adapter.streams[place]?.text("fine")
    adapter.streams[place]?.finish("stop")
  }
  return { ...made, chat, adapter, answer }
}

describe("INT1 a chat that is started in the middle of a turn", () => {
  test("is interrupted when its process died, with what the reply had said", async () => {
    const { chat } = await interrupted()
    expect([chat.getSnapshot()?.value, ...shown(chat)]).toEqual(["interrupted", "interrupted", "Once upon"])
    expect(said(chat)).toEqual(["go"])
  })

  test("is interrupted when its program ended, with the draft of its record", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ script: [] }), store: records(cutShort).store })
    expect(shown(await troupe.chat("c"))).toEqual(["interrupted", "Once upon"])
  })

  test("is interrupted without a text where none is known", async () => {
    const { draft: _, ...silent } = cutShort
    const { troupe } = await check.troupe({ adapter: check.fake({ script: [] }), store: records(silent).store })
    expect(shown(await troupe.chat("c"))).toEqual(["interrupted", ""])
  })

  test("is so again after every restart, and when it was saved and loaded", async () => {
    const { store, saved } = records()
    const { chat, troupe } = await interrupted(store)
    kill(chat)
    await until(() => chat.pid !== undefined)
    expect(shown(chat)).toEqual(["interrupted", "Once upon"])
    await chat.setPermissionMode("plan")
    expect(saved.at(-1)).toMatchObject({ running: true, draft: "Once upon" })
    await chat.stop()
    expect(shown(await troupe.chat("c"))).toEqual(["interrupted", "Once upon"])
  })

  test("waits for a decision, where a call of its open step does", async () => {
    const call = { id: "c0", name: "pay", arguments: {}, rawArguments: "{}" }
    const open: Conversation["open"] = { at: 1, calls: [{ state: "intended" }] }
    const messages = [Message.user("go"), Message.assistant("", [call])]
    const { draft: _, ...before } = cutShort
    const { store } = records({ ...before, thread: { messages }, open })
    const tools = [make({ name: "pay", effect: "write", handler: () => ok(1) })]
    const { troupe } = await check.troupe({ adapter: check.fake({ script: [] }), store, tools })
    expect(shown(await troupe.chat("c"))).toEqual(["awaitingApproval", ""])
  })

  test("is not one that was at rest, whatever was saved since", async () => {
    const { store } = records()
    const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [says("fine")] }), store })
    const chat = await troupe.chat("c")
    await chat.setPermissionMode("plan")
    await chat.stop()
    const again = await troupe.chat("c")
    expect(shown(again)).toEqual(["idle", ""])
    await again.send("go").result()
    await again.stop()
    const third = await troupe.chat("c")
    await third.setPermissionMode("default")
    await third.stop()
    expect(shown(await troupe.chat("c"))).toEqual(["idle", ""])
  })

  test("is interrupted with the question it had before, until a turn ends", async () => {
    const tools = [handling("ask", () => askUser("Which?"))]
    const adapter = check.fake({ scripts: [calls("ask"), [{ hang: true }]] })
    const { troupe } = await check.troupe({ adapter, tools })
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    expect(shown(chat)[0]).toBe("awaitingUser")
    const turn = chat.send("this one")
    await turn.receipt
    kill(chat)
    await turn.result().catch(() => {})
    await until(() => chat.pid !== undefined)
    expect(shown(chat)[0]).toBe("interrupted")
    expect(chat.getSnapshot()?.context.pendingQuestion).toMatchObject({ question: "Which?" })
  })
})

describe("INT2 what the interrupted reply had said", () => {
  test("is in the thread behind the next input, as a reply that was cancelled", async () => {
    const { chat, answer } = await interrupted()
    const turn = chat.send("and then?")
    await answer(1)
    await turn.result()
    expect(said(chat)).toEqual(["go", "Once upon", "and then?", "fine"])
    expect(chat.thread.messages[1]).toEqual({
      role: "assistant",
      content: "Once upon",
      metadata: { finish_reason: null, cancelled: true, interrupted: true }
    })
    expect(shown(chat)).toEqual(["idle", ""])
  })

  test("is dropped by a retry", async () => {
    const { chat, answer } = await interrupted()
    const turn = chat.retry()
    expect(chat.getSnapshot()?.context.partial.text).toBe("Once upon")
    await answer(1)
    await turn.result()
    expect(said(chat)).toEqual(["go", "fine"])
  })

  test("goes before an input that waited when the process died", async () => {
    const adapter = handAdapter()
    const { troupe } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    chat.send("go")
    await until(() => adapter.streams.length === 1)
    adapter.streams[0]?.text("Once upon")
    await until(() => shown(chat)[1] === "Once upon")
    const next = chat.send("next")
    await next.receipt
    kill(chat)
    await until(() => adapter.streams.length === 2)
    adapter.streams[1]?.finish("stop")
    await next.result()
    expect(said(chat)).toEqual(["go", "Once upon", "next", ""])
  })

  test("stays where an input could not be stored, and is not said twice", async () => {
    const kept = records(cutShort)
    let broken = true
    const save: RecordStore["save"] = (record) => {
      if (broken) throw new Error("full")
      return kept.store.save(record)
    }
    const adapter = check.fake({ scripts: [says("fine")] })
    const { troupe } = await check.troupe({ adapter, store: { ...kept.store, save } })
    const chat = await troupe.chat("c")
    const lost = chat.send("next")
    await lost.result()
    expect(await lost.delivery).toMatchObject({ status: "rejected", reason: "store_failed" })
    expect([...shown(chat), ...said(chat)]).toEqual(["interrupted", "Once upon", "go"])
    broken = false
    await chat.send("next").result()
    expect(said(chat)).toEqual(["go", "Once upon", "next", "fine"])
  })

  test("is kept by a hook that changes the words of the next input", async () => {
    const hooks: Hooks = { UserPromptSubmit: [() => ({ type: "transform", prompt: "changed" })] }
    const adapter = check.fake({ scripts: [says("fine")] })
    const { troupe } = await check.troupe({ adapter, hooks, store: records(cutShort).store })
    const chat = await troupe.chat("c")
    await chat.send("next").result()
    expect(said(chat)).toEqual(["go", "Once upon", "changed", "fine"])
  })

  test("is what stood in a step that died before it was kept", async () => {
    const adapter = handAdapter()
    const held = Promise.withResolvers<void>()
    const { store } = records()
    let saves = 0
    const save: RecordStore["save"] = (record) => {
      if (++saves === 2) return held.promise
      return store.save(record)
    }
    const { troupe } = await check.troupe({ adapter, store: { ...store, save } })
    const chat = await troupe.chat("c")
    chat
      .send("go")
      .result()
      .catch(() => {})
    await until(() => adapter.streams.length === 1)
    adapter.streams[0]?.text("Once upon")
    adapter.streams[0]?.finish("stop")
    await until(() => saves === 2)
    kill(chat)
    held.reject(new Error("full"))
    await until(() => chat.pid !== undefined)
    await hop()
    expect(shown(chat)).toEqual(["interrupted", "Once upon"])
  })

  test("of a reply that calls tools that write is in the thread with its calls, and nowhere else", async () => {
    const adapter = handAdapter()
    const { store } = records()
    const started = Promise.withResolvers<void>()
    const tools = [
      make({
        name: "pay",
        effect: "write",
        onUnknown: "fail",
        handler: () => {
          started.resolve()
          return new Promise<HandlerResult>(() => {})
        }
      })
    ]
    const { troupe } = await check.troupe({ adapter, store, tools })
    const chat = await troupe.chat("c")
    chat
      .send("go")
      .result()
      .catch(() => {})
    await until(() => adapter.streams.length === 1)
    adapter.streams[0]?.text("I pay")
    adapter.streams[0]?.say({ type: "tool_call_completed", id: "c0", name: "pay", arguments: {}, rawArguments: "{}" })
    adapter.streams[0]?.finish("tool_calls")
    await started.promise
    kill(chat)
    await until(() => chat.pid !== undefined)
    expect([...shown(chat), said(chat).filter((content) => content === "I pay").length]).toEqual(["interrupted", "", 1])
  })
})
