import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { expect } from "vitest"
import { subagent } from "../../src/agents/subagentTool.ts"
import * as Codec from "../../src/session/Codec.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { LiveTurn } from "../../src/live/liveTurn.ts"
import type { Decision, PendingApproval } from "../../src/record/Approval.ts"
import { waitsOf } from "../../src/record/waits.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { awaitingUser } from "../../src/values/errorText.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { said } from "../double/scripts.ts"
import { type Task, working } from "../double/subagents.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

const Wait = Schema.Literals(["write", "ask", "fill"])
const Leaf = Schema.Array(Wait).check(Schema.isMinLength(1), Schema.isMaxLength(2), Schema.isUnique())
const Middle = Schema.Array(Schema.Union([Wait, Leaf])).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(2),
  Schema.isUnique()
)
const Tree = Schema.Array(Schema.Union([Wait, Middle])).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(2),
  Schema.isUnique()
)

/** When a program ends: after how many turns of the event loop of a chat's turn. */
const Ends = Schema.Array(Schema.Literals([0, 1, 2, 3, 5, 8, 13, 30, 60, 100])).check(Schema.isMaxLength(6))

/** What programs have written, which outlives them. */
class Disk {
  texts = new Map<string, string>()

  /** A store of one program; after `left` nothing is kept. */
  store(program: { readonly left: boolean }): RecordStore {
    const { texts } = this
    return {
      load: (id) => {
        const text = texts.get(id)
        return text === undefined ? undefined : Codec.decode("ChatRecord", text)
      },
      save: async (record) => {
        const text = Codec.encode("ChatRecord", record)
        await turnsOfLoop(1)
        if (!program.left) texts.set(record.id, text)
      },
      delete: (id) => void texts.delete(id)
    }
  }
}

const turnsOfLoop = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** The answer of the person to a wait, by its address. */
const answerTo = (id: string, kind: PendingApproval["kind"]): Decision => {
  if (kind === "permission") return { type: "allow" }
  return { type: "result", value: kind === "unknown_outcome" ? "written" : `<${id}>` }
}

/** What the root says at the end. */
const answerOf = (task: Task, prefix = ""): string => {
  const texts = task.flatMap((call, index): ReadonlyArray<string> => {
    const id = `${prefix}c${index}`
    if (call === "ask") return [awaitingUser]
    if (call === "write") return ["written"]
    return [call === "fill" ? `<${id}>` : answerOf(call, `${id}/~/`)]
  })
  const asked = task.indexOf("ask")
  return `[${[...texts, ...(asked === -1 ? [] : [`<${prefix}c${asked}>`])].join(" ")}]`
}

/** The answers in a text; results of a person come after those of handlers. */
const wordsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/<[^>]*>|written/gu)].join(" ").split(" ").toSorted()

const program = async (disk: Disk, ran: Map<string, number>) => {
  const life = { left: false }
  const write = tool({
    name: "write",
    execute: (_, { idempotencyKey }) => {
      if (!life.left) ran.set(idempotencyKey, (ran.get(idempotencyKey) ?? 0) + 1)
      return "written"
    }
  })
  const ask = tool({ name: "ask", onUnknown: "retry", execute: () => askUser("Which one?") })
  const tools = [write, ask, tool({ name: "fill", manual: true }), subagent("research")]
  const permissions = {
    ask: ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
      toolCall.name === "write" ? ("suspend" as const) : ("allow" as const)
  }
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: working }),
    tools,
    permissions,
    agents: { research: { adapter: check.fake({ respond: working }), tools, permissions } },
    store: disk.store(life)
  })
  const end = async (): Promise<void> => {
    life.left = true
    await troupe.stop()
  }
  return { troupe, end }
}

/** The next turn that a person begins; `undefined` when the chat waits for nothing. */
const nextTurn = (
  chat: LocalChatRef,
  task: Task,
  pick: number,
  answers: Map<string, unknown>
): LiveTurn | undefined => {
  const context = chat.getSnapshot()?.context
  if (context === undefined || context.thread.messages.length === 0) return chat.send(JSON.stringify(task), { id: "t" })
  if (context.phase === "interrupted") return chat.retry()
  const { pendingApprovals, pendingToolCalls, pendingQuestion } = context
  for (const { toolCall, kind } of pendingApprovals) {
    const decision = answerTo(toolCall.id, kind)
    answers.set(toolCall.id, decision.type === "result" ? decision.value : "written")
  }
  const wait = pendingApprovals[pick % Math.max(1, pendingApprovals.length)]
  if (wait !== undefined) return chat.approve(wait.toolCall.id, answerTo(wait.toolCall.id, wait.kind))
  const [manual] = pendingToolCalls
  if (manual !== undefined) {
    const input = pendingQuestion === undefined ? undefined : `<${pendingQuestion.toolCallId}>`
    return chat.submitToolResults({ [manual.id]: `<${manual.id}>` }, { input })
  }
  if (pendingQuestion === undefined) return undefined
  // An answer that a program has accepted before it ended is not sent a second time.
  return chat.send(`<${pendingQuestion.toolCallId}>`, { id: pendingQuestion.toolCallId })
}

const addressesIn = (task: Task, prefix = ""): ReadonlyArray<string> =>
  task.flatMap((call, index) => {
    const id = `${prefix}c${index}`
    if (typeof call !== "string") return addressesIn(call, `${id}/~/`)
    return prefix === "" && call !== "write" ? [] : [id]
  })

const lived = async (task: Task, ends: ReadonlyArray<number>, picks: number) => {
  const disk = new Disk()
  const ran = new Map<string, number>()
  const answers = new Map<string, unknown>()
  const left = [...ends]
  let one = await program(disk, ran)
  for (let turn = 0; turn < 60; turn++) {
    const chat = await one.troupe.chat("c")
    const next = nextTurn(chat, task, picks + turn, answers)
    if (next === undefined) return { chat, disk, ran, asked: new Set(answers.keys()), answers }
    const end = left.shift()
    if (end === undefined) await next.result()
    else {
      const result = next.result().catch(() => undefined)
      await turnsOfLoop(end)
      await one.end()
      await result
      one = await program(disk, ran)
    }
  }
  throw new Error("the chat waits for ever")
}

it.effect.prop(
  "SUB10, SUB11 every wait of a random family reaches the root, its answer reaches that call once, over restarts at any time",
  { task: Tree, ends: Ends, picks: Schema.Literals([0, 1, 2, 3]) },
  ({ task, ends, picks }) =>
    Effect.promise(async () => {
      const { chat, disk, ran, asked, answers } = await lived(task, ends, picks)
      const text = said(chat.thread.messages.at(-1))
      if (ends.length === 0) {
        expect(wordsIn(text)).toEqual(wordsIn(answerOf(task)))
        expect([...asked].toSorted()).toEqual(addressesIn(task).toSorted())
      }
      const possible = addressesIn(task)
      for (const id of asked) {
        expect(possible).toContain(id)
        const used = text.split(`<${id}>`).length - 1
        expect({ task, ends, picks, id, text, used }).toMatchObject({ used: answers.get(id) === "written" ? 0 : 1 })
      }
      expect([...ran.values()].every((count) => count === 1)).toBe(true)
      const waits = [...disk.texts.values()].flatMap((kept) => waitsOf(Codec.decode("ChatRecord", kept)))
      expect(waits).toEqual([])
    }),
  { ...runsOf(60), timeout: 60_000 }
)
