/**
 * What a person does to a chat in a storm.
 *
 * Owns: what the person sent and decided, and the promises of the running program that have not settled. Does not own the chat.
 */
import { SessionError } from "../../src/errors/ChatError.ts"
import type { Decision } from "../../src/record/Approval.ts"
import type { ChatResult } from "../../src/record/ChatResult.ts"
import type { Receipt } from "../../src/record/Inbox.ts"
import type { ChatTurn } from "../../src/troupe/ChatRef.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import { anyOf, pick, type Some } from "./randomParts.ts"
import type { StormRecord } from "./stormRecord.ts"

/** An input of the person: when it was sent, and its turn. */
export interface Sent {
  readonly text: string
  readonly at: number
  readonly turn: ChatTurn
  /** Whether it was sent with decisions and results. */
  readonly isAnswer: boolean
  /** The newest receipt; `undefined` if its program ended before. */
  receipt?: Receipt
}

/** What the person needs of the storm. */
interface Surroundings {
  readonly chance: () => number
  readonly tick: () => number
  readonly record: StormRecord
  readonly trace: Array<string>
  readonly wrong: Array<string>
  /** Ends the work of a background task. */
  readonly endTask: () => void
  /** A turn begins; returns what is called when it has completed. */
  readonly turnBegins: () => () => void
}

const decisions: Some<Decision> = [
  { type: "result", value: "by hand" },
  { type: "deny", reason: "no" },
  { type: "allow" },
  { type: "allow" },
  { type: "halt" }
]

const whenever = [
  ..."send send send send steer steer interrupt same retry resume".split(" "),
  ..."cancel cancel_turn withdraw hand_off end_task".split(" ")
]

const often = (verbs: string, times: number): ReadonlyArray<string> => Array.from({ length: times }, () => verbs)

export class Person {
  readonly sent: Array<Sent> = []
  /** How often each call whose outcome was unknown was allowed to run again. */
  readonly allowed = new Map<string, number>()
  /** The calls whose result was given. */
  readonly byHand = new Set<string>()
  /** The inputs that were taken back, or may have been. */
  readonly withdrawn = new Set<string>()
  readonly #around: Surroundings
  #unsettled = new Map<string, Promise<unknown>>()
  #promises = 0

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** The promises that have not settled. */
  get unsettled(): ReadonlyArray<string> {
    return [...this.#unsettled.keys()]
  }

  /** A program begins: nobody waits for the one before. */
  programBegins(): void {
    this.#unsettled = new Map()
  }

  /** Does something to the chat, more often what the chat waits for. */
  act(chat: LocalChatRef): void {
    const { pendingApprovals = [], pendingToolCalls = [], pendingQuestion } = chat.getSnapshot()?.context ?? {}
    const verbs = [
      ...whenever,
      ...(pendingQuestion === undefined ? [] : often("send", 6)),
      ...(pendingApprovals.length === 0 ? [] : [...often("decide", 6), ...often("answer_all", 2)]),
      ...(pendingToolCalls.length === 0 ? [] : [...often("submit", 4), "answer_all"])
    ]
    this.does(anyOf(this.#around.chance, verbs) ?? "send", chat)
  }

  /** Does this. A verb that the chat has no use for may be refused. */
  does(verb: string, chat: LocalChatRef): void {
    this.#around.trace.push(verb)
    try {
      this.#does(verb, chat)
    } catch (error) {
      if (!(error instanceof SessionError)) throw error
      this.#around.trace.push(`refused: ${error.reason}`)
    }
  }

  #does(verb: string, chat: LocalChatRef): void {
    const { chance, endTask } = this.#around
    if (verb === "send" || verb === "steer" || verb === "interrupt") this.#send(verb, chat)
    else if (verb === "same") this.#sendAgain(chat)
    else if (verb === "decide") this.#decide(chat)
    else if (verb === "submit") this.#submit(chat)
    else if (verb === "answer_all") this.#answerAll(chat)
    else if (verb === "retry" && chat.thread.messages.length > 0) this.#watch(verb, chat.retry())
    else if (verb === "resume") for (const turn of chat.resume()) this.#watch(verb, turn)
    else if (verb === "cancel") this.#settles(verb, chat.cancel())
    else if (verb === "cancel_turn" || verb === "withdraw") {
      const sent = anyOf(chance, this.sent)
      const turn = sent?.turn.id ?? "m0"
      this.withdrawn.add(sent?.text ?? turn)
      this.#settles(verb, verb === "withdraw" ? chat.withdraw(turn) : chat.cancel({ turn }))
    } else if (verb === "hand_off") this.#settles(verb, chat.handoff(pick(chance, ["a", "b"])))
    else if (verb === "end_task") endTask()
  }

  #send(verb: "send" | "steer" | "interrupt", chat: LocalChatRef): void {
    const text = `m${this.sent.length}`
    const whenBusy = verb === "send" ? "queue" : verb
    // An input without a name that finds the chat at rest has no row (CHAT9).
    const isDirect = this.sent.length % 2 === 1 && chat.getSnapshot()?.value === "idle"
    this.#note(text, chat.send(text, isDirect ? { whenBusy } : { whenBusy, id: text }))
  }

  #sendAgain(chat: LocalChatRef): void {
    const { chance, record } = this.#around
    const again = anyOf(
      chance,
      this.sent.filter(({ text, turn, isAnswer }) => !isAnswer && turn.id === text)
    )
    if (again === undefined) return
    const isStored = record.has(again.text)
    const turn = chat.send(again.text, { id: again.text })
    // An input that the chat does not have is a new one.
    this.#note(again.text, turn, { at: isStored || turn === again.turn ? again.at : undefined })
  }

  #decide(chat: LocalChatRef): void {
    const wait = anyOf(this.#around.chance, chat.getSnapshot()?.context.pendingApprovals ?? [])
    if (wait === undefined) return
    const { id } = wait.toolCall
    this.#watch(`decide ${id}`, chat.approve(id, this.#decision(wait.kind, id)))
  }

  #decision(kind: string, id: string): Decision {
    const decision = pick(this.#around.chance, decisions)
    if (decision.type === "result") this.byHand.add(id)
    // Counted before it is sent: an answer that is lost may have been stored.
    if (decision.type === "allow" && kind === "unknown_outcome") this.allowed.set(id, (this.allowed.get(id) ?? 0) + 1)
    return decision
  }

  #submit(chat: LocalChatRef): void {
    const results = resultsFor(chat)
    if (Object.keys(results).length > 0) this.#watch("submit", chat.submitToolResults(results))
  }

  /** Answers everything that the chat waits for, with a message behind it. */
  #answerAll(chat: LocalChatRef): void {
    const approvals = chat.getSnapshot()?.context.pendingApprovals ?? []
    const results = resultsFor(chat)
    if (approvals.length + Object.keys(results).length === 0) return
    const text = `m${this.sent.length}`
    const decided = approvals.map(({ toolCall: { id }, kind }) => [id, this.#decision(kind, id)])
    const answers = { decisions: Object.fromEntries(decided) as Record<string, Decision>, results, input: text }
    this.#note(text, chat.answer(answers, { id: text }), { isAnswer: true })
  }

  /** Notes an input and its receipts, which must be true when they come (RCPT2). */
  #note(text: string, turn: ChatTurn, { at = this.#around.tick(), isAnswer = false } = {}): void {
    const { record, wrong } = this.#around
    const own = this.#unsettled
    const input: Sent = { text, at, turn, isAnswer }
    this.sent.push(input)
    this.#watch(text, turn)
    const noted = (receipt: Receipt): void => {
      if (own !== this.#unsettled) return
      input.receipt = receipt
      const { status } = receipt
      const isTrue = status === "rejected" || (status === "pending" ? record.has(text) : record.hasDelivered(text))
      if (!isTrue && !this.withdrawn.has(text)) wrong.push(`${text} is ${status}, and not in the store`)
    }
    void turn.receipt.then(noted)
    void turn.delivery.then(noted)
  }

  /** Notes a turn; when it has completed, the store has its answer. */
  #watch(name: string, turn: ChatTurn): void {
    const { record, wrong, turnBegins } = this.#around
    const own = this.#unsettled
    const completed = turnBegins()
    this.#settles(name, turn.result())
    this.#settles(`receipt of ${name}`, turn.receipt)
    const ended = ({ haltedReason, finalResponse }: ChatResult): void => {
      if (own !== this.#unsettled || haltedReason === "error") return
      completed()
      const text = finalResponse?.outputText ?? ""
      const isStored = haltedReason !== "completed" || text === "" || record.wasAnswered(text)
      if (!isStored) wrong.push(`the answer ${text} to ${name} was reported, and is not stored`)
    }
    turn.result().then(ended, () => {})
  }

  /** Notes a promise until it settles, or its program ends. */
  #settles(name: string, promise: Promise<unknown>): void {
    const own = this.#unsettled
    const key = `${(this.#promises += 1)} ${name}`
    const settled = (): void => void own.delete(key)
    own.set(key, promise.then(settled, settled))
  }
}

const resultsFor = (chat: LocalChatRef): Readonly<Record<string, string>> =>
  Object.fromEntries((chat.getSnapshot()?.context.pendingToolCalls ?? []).map(({ id }) => [id, "given"]))
