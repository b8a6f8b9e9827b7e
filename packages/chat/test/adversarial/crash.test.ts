import { Process, Sys, System } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import type { Conversation } from "../../src/record/Conversation.ts"
import { SessionError } from "../../src/errors/ChatError.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { ChatSnapshot } from "../../src/view/liveView.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { memory } from "../double/savingStore.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf, processOf } from "../double/processes.ts"
import { calls, echo, handling, readAll, says } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

const kill = (chat: LocalChatRef): void => {
  if (chat.pid === undefined) throw new Error("no process")
  Process.kill(chat.pid)
}

/** A model that hangs at the requests that a test names. */
const hanging = (hangs: number) => {
  let left = hangs
  return check.fake({ respond: () => (left-- > 0 ? [{ text: "par" }, { hang: true }] : says("fine")) })
}

describe("a chat whose process dies", () => {
  test("in the middle of a turn: the turn fails with chat_died, the question is kept, and retry goes on", async () => {
    const adapter = hanging(1)
    const { troupe } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => adapter.open === 1)
    const before = chat.pid
    kill(chat)
    await expect(turn.result()).rejects.toMatchObject({ _tag: "SessionError", reason: "chat_died" })
    await expect(readAll(turn)).rejects.toBeInstanceOf(SessionError)
    await until(() => chat.pid !== undefined)
    expect(chat.pid).not.toBe(before)
    expect(chat.thread.messages).toMatchObject([{ role: "user", content: "go" }])
    const result = await chat.retry().result()
    expect(result).toMatchObject({
      haltedReason: "completed",
      thread: { messages: [{ content: "go" }, { content: "fine" }] }
    })
    expect(adapter.released).toBe(2)
  })

  test("after a step: the step is kept, its tools do not run again", async () => {
    let ran = 0
    const adapter = check.fake({ scripts: [calls("t"), [{ hang: true }], says("fine")] })
    const { troupe } = await check.troupe({ adapter, tools: [handling("t", () => ok(++ran))] })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => adapter.requests.length === 2)
    kill(chat)
    await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
    await until(() => chat.pid !== undefined)
    const result = await chat.retry().result()
    expect(result.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
    expect(ran).toBe(1)
  })

  test("while tools run: their signals are aborted, and their results are discarded", async () => {
    const started = Promise.withResolvers<AbortSignal>()
    const slow = handling("slow", (_args, { signal }) => {
      started.resolve(signal)
      return new Promise(() => {})
    })
    const adapter = check.fake({ scripts: [calls("slow"), says("fine")] })
    const { troupe, system } = await check.troupe({ adapter, tools: [slow] })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    const signal = await started.promise
    kill(chat)
    await until(() => signal.aborted)
    expect(processesOf(system, "ToolCall")).toEqual([])
    await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
  })

  test("with turns waiting: each of them is run by the next process, in order", async () => {
    const adapter = hanging(1)
    const { troupe } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const [running, ...waiting] = [chat.send("one"), chat.send("two"), chat.send("three")]
    await until(() => adapter.open === 1)
    kill(chat)
    await expect(running.result()).rejects.toMatchObject({ reason: "chat_died" })
    const results = await Promise.all(waiting.map((turn) => turn.result()))
    expect(results.map((result) => result.haltedReason)).toEqual(["completed", "completed"])
    expect(chat.thread.messages.flatMap((message) => (message.role === "user" ? [message.content] : []))).toEqual([
      "one",
      "two",
      "three"
    ])
  })

  test("observers stay, and see the next process", async () => {
    const adapter = hanging(1)
    const { troupe, clock } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const seen: Array<ChatSnapshot> = []
    let completed = 0
    const subscription = chat.subscribe({ next: (snapshot) => seen.push(snapshot), complete: () => completed++ })
    const turn = chat.send("go")
    await until(() => adapter.open === 1)
    kill(chat)
    await turn.result().catch(() => {})
    await until(() => chat.pid !== undefined)
    const atRestart = seen.length
    await chat.retry().result()
    await clock.advance(50)
    expect(seen.length).toBeGreaterThan(atRestart)
    expect(seen.at(-1)?.value).toBe("idle")
    expect(completed).toBe(0)
    subscription.unsubscribe()
  })

  test("a chat at rest that dies is there again, with its thread", async () => {
    const { troupe } = await check.troupe({ adapter: hanging(0) })
    const chat = await troupe.chat("c")
    await chat.send("one").result()
    kill(chat)
    await until(() => chat.pid !== undefined)
    expect((await chat.send("two").result()).thread.messages).toHaveLength(4)
  })

  test("a turn sent while there is no process is run by the next", async () => {
    const { troupe } = await check.troupe({ adapter: hanging(0) })
    const chat = await troupe.chat("c")
    kill(chat)
    expect(chat.pid).toBeUndefined()
    expect((await chat.send("go").result()).haltedReason).toBe("completed")
  })

  test("killing it more often than maxRestarts ends its supervisor, which is started again; the chat comes back when sent to", async () => {
    const { troupe, system } = await check.troupe({ adapter: hanging(0), maxRestarts: 2, maxSeconds: 60 })
    const [chat, other] = [await troupe.chat("c"), await troupe.chat("other")]
    await other.send("hello").result()
    const supervisor = processOf(system, "ChatSupervisor")
    for (let death = 0; death < 3; death++) {
      await until(() => chat.pid !== undefined, "a restart")
      kill(chat)
    }
    await until(() => !Process.isAlive(supervisor) && processesOf(system, "ChatSupervisor").length === 1)
    expect((await chat.send("go").result()).haltedReason).toBe("completed")
    expect((await other.send("again").result()).thread.messages).toHaveLength(4)
  })

  test("TREE1 turns that wait while the supervisor is started again are run", async () => {
    const adapter = hanging(3)
    const { troupe } = await check.troupe({ adapter, maxRestarts: 1, maxSeconds: 60 })
    const chat = await troupe.chat("c")
    const turns = [chat.send("one"), chat.send("two"), chat.send("three"), chat.send("four")]
    const ends = turns.map((turn) =>
      turn.result().then(
        (result) => result.haltedReason,
        (error: unknown) => (error instanceof SessionError ? error.reason : error)
      )
    )
    for (let death = 1; death <= 3; death++) {
      await until(() => adapter.requests.length === death, `request ${death}`)
      kill(chat)
    }
    expect(await Promise.all(ends)).toEqual(["chat_died", "chat_died", "chat_died", "completed"])
  })

  test("the supervisor of chats that is killed is started again, and turns that wait are run", async () => {
    const adapter = hanging(1)
    const { troupe, system } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const [running, waiting] = [chat.send("one"), chat.send("two")]
    await until(() => adapter.open === 1)
    Process.kill(processOf(system, "ChatSupervisor"))
    await expect(running.result()).rejects.toMatchObject({ reason: "chat_died" })
    expect((await waiting.result()).haltedReason).toBe("completed")
  })

  test("the registry that is killed is started again, and each chat is there once", async () => {
    const { troupe, system } = await check.troupe({ adapter: hanging(0) })
    const chat = await troupe.chat("c")
    const supervisor = processOf(system, "ChatSupervisor")
    Process.kill(processOf(system, "Registry"))
    await until(() => !Process.isAlive(supervisor) && processesOf(system, "ChatSupervisor").length === 1)
    expect((await chat.send("go").result()).haltedReason).toBe("completed")
    await troupe.chat("c")
    expect(processesOf(system, "Chat c")).toHaveLength(1)
  })

  test.each(["Registry", "Store", "ChatSupervisor"])(
    "TREE1 %s that dies while a chat is loaded is waited for by those who asked for the chat",
    async (label) => {
      const inner = memory()
      const slow = Promise.withResolvers<void>()
      let loads = 0
      const store: RecordStore = {
        ...inner,
        load: async (id) => {
          if (++loads === 1) await slow.promise
          return inner.load(id)
        }
      }
      const { troupe, system } = await check.troupe({ adapter: hanging(0), store })
      const asked = [troupe.chat("c"), troupe.chat("c")]
      await until(() => loads === 1)
      Process.kill(processOf(system, label))
      const meanwhile = troupe.chat("other")
      slow.resolve()
      const [chat, same] = await Promise.all(asked)
      expect(same).toBe(chat)
      expect((await chat?.send("go").result())?.haltedReason).toBe("completed")
      expect((await (await meanwhile).send("go").result()).haltedReason).toBe("completed")
      expect(processesOf(system, "Chat c")).toHaveLength(1)
    }
  )

  test("a chat is stopped though its supervisor dies before it could end it", async () => {
    const { troupe, system } = await check.troupe({ adapter: hanging(0) })
    const chat = await troupe.chat("c")
    const supervisor = processOf(system, "ChatSupervisor")
    await Sys.suspend(supervisor)
    const stopped = chat.stop()
    await hop()
    Process.kill(supervisor)
    await stopped
    expect(processesOf(system, "Chat c")).toEqual([])
  })

  test("stopping it while it is started again leaves no process", async () => {
    const { troupe, system } = await check.troupe({ adapter: hanging(0) })
    const chat = await troupe.chat("c")
    kill(chat)
    await chat.stop()
    await hop()
    expect(processesOf(system, "Chat c")).toEqual([])
    await expect(chat.send("go").result()).rejects.toMatchObject({ reason: "chat_stopped" })
  })

  test("TREE2 stopping the Troupe in the middle of everything ends everything", async () => {
    const { troupe, system } = await check.troupe({ adapter: hanging(5), tools: [echo] })
    const turns = await Promise.all(["a", "b", "c"].map(async (id) => (await troupe.chat(id)).send("go")))
    await until(() => processesOf(system, "AdapterStream").length === 3)
    kill(await troupe.chat("a"))
    await troupe.stop()
    const ends = await Promise.allSettled(turns.map((turn) => turn.result()))
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"])
    expect(System.stats(system).processes).toBe(0)
    await expect(troupe.chat("d")).rejects.toMatchObject({ reason: "troupe_stopped" })
  })
})

describe("a store that fails", () => {
  /** A store whose next so many loads or saves fail. */
  const failing = (fails: { load: number; save: number }): RecordStore => {
    const inner = memory()
    return {
      ...inner,
      load: (id) => (fails.load > 0 && fails.load-- > 0 ? Promise.reject(new Error("disk")) : inner.load(id)),
      save: (record) => (fails.save > 0 && fails.save-- > 0 ? Promise.reject(new Error("disk")) : inner.save(record))
    }
  }

  test("CHAT2 in `save` ends the turn with `error`; the sender gets the error, and other chats go on", async () => {
    const adapter = check.fake({
      respond: (request) => (request.messages.at(-1)?.content === "hang" ? [{ hang: true }] : says("fine"))
    })
    const fails = { load: 0, save: 0 }
    const { troupe, system } = await check.troupe({ adapter, store: failing(fails) })
    const other = await troupe.chat("other")
    const hung = other.send("hang")
    await until(() => adapter.open === 1)
    const store = processOf(system, "Store")
    fails.save = 1
    const chat = await troupe.chat("c")
    const one = chat.send("one")
    const failed = await one.result()
    expect(failed).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "store_failed" } } })
    expect(await one.receipt).toEqual({ status: "pending" })
    const { haltedReason, thread } = await chat.send("two").result()
    expect(haltedReason).toBe("completed")
    expect(await one.delivery).toEqual({ status: "delivered" })
    expect(thread.messages.map((message) => message.content)).toEqual(["one", "fine", "two", "fine"])
    expect(hung.over).toBe(false)
    expect(Process.isAlive(store)).toBe(true)
    await other.cancel()
  })

  test("in `load` rejects `chat`, and the next try may succeed", async () => {
    const fails = { load: 1, save: 0 }
    const { troupe } = await check.troupe({ adapter: hanging(0), store: failing(fails) })
    await expect(troupe.chat("c")).rejects.toThrow()
    const chat = await troupe.chat("c")
    expect((await chat.send("go").result()).haltedReason).toBe("completed")
  })

  test("for a long time does not end the Troupe", async () => {
    const fails = { load: 10, save: 0 }
    const { troupe } = await check.troupe({ adapter: hanging(0), store: failing(fails) })
    for (let attempt = 0; attempt < 10; attempt++) await expect(troupe.chat("c")).rejects.toThrow()
    expect((await (await troupe.chat("c")).send("go").result()).haltedReason).toBe("completed")
  })

  test("by throwing at once is as by rejecting", async () => {
    let left = 1
    const inner = memory()
    const store: RecordStore = {
      ...inner,
      save: (record: Conversation) => {
        if (left-- > 0) throw new Error("disk")
        return inner.save(record)
      }
    }
    const { troupe } = await check.troupe({ adapter: hanging(0), store })
    const chat = await troupe.chat("c")
    expect((await chat.send("one").result()).metadata["error"]).toMatchObject({ reason: "store_failed" })
    expect((await chat.send("two").result()).haltedReason).toBe("completed")
  })
})

describe("a living chat whose callbacks throw", () => {
  test("`onEvent`: the turn fails with it, the request is released, and the next turn runs", async () => {
    let left = 1
    const adapter = hanging(0)
    const { troupe } = await check.troupe({
      adapter,
      onEvent: (event) => {
        if (event.type === "text_delta" && left-- > 0) throw new Error("seen")
      }
    })
    const chat = await troupe.chat("c")
    const turns = [chat.send("one"), chat.send("two")]
    await expect(turns[0]?.result()).rejects.toThrow("seen")
    expect((await turns[1]?.result())?.haltedReason).toBe("completed")
    expect(adapter.open).toBe(0)
  })

  test("`haltWhen`: the turn fails, and the next turn runs", async () => {
    let left = 1
    const adapter = check.fake({ respond: (_request, index) => (index === 0 ? calls("echo") : says("fine")) })
    const { troupe } = await check.troupe({
      adapter,
      tools: [echo],
      haltWhen: () => {
        if (left-- > 0) throw new Error("halting")
        return false
      }
    })
    const chat = await troupe.chat("c")
    await expect(chat.send("one").result()).rejects.toThrow()
    expect((await chat.send("two").result()).haltedReason).toBe("completed")
  })

  test("an observer: no error is reported, and no process is stopped", async () => {
    const { troupe, clock } = await check.troupe({ adapter: hanging(0) })
    const chat = await troupe.chat("c")
    let seen = 0
    chat.subscribe(() => {
      throw new Error("mine")
    })
    chat.subscribe(() => void seen++)
    expect((await chat.send("go").result()).haltedReason).toBe("completed")
    await clock.advance(50)
    expect(seen).toBeGreaterThan(0)
  })
})
