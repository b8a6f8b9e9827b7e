/**
 * A chat, on whichever node it lives.
 *
 * Owns: the order of its requests (CLREF2). Does not own the chat, whose home is found for each request.
 *
 * CLREF1. Every member works as that of a chat of this program, over moves of the chat. A refusal of the chat is the same
 *         typed error.
 * CLREF2. The requests of turns reach the home in the order of the calls, whatever their size: a request is sent when the one before it
 *         has its receipt.
 *
 * @module
 */
import type { ChatRef, RunningTroupe } from "@troupe/chat"
import { SessionError } from "@troupe/chat/errors"
import { StructuredOutput } from "@troupe/chat/models"
import { Codec } from "@troupe/chat/store"
import type { ChatView } from "@troupe/chat/view"
import type { ChatLink } from "@troupe/server"
import { type ChatMonitor, monitorChat } from "./ChatMonitor.ts"
import { ClusterReader } from "./ClusterReader.ts"
import { ClusterTurn, type TurnParts } from "./ClusterTurn.ts"
import { type NodeClient, passingFor, pathPart, pause, requestOf } from "./nodeClient.ts"

type Input = Parameters<ChatRef["send"]>[0]
type Answers = Parameters<ChatRef["answer"]>[0]
type Ask = NonNullable<Parameters<ChatRef["send"]>[1]>

/** The parts that all chats of a cluster share. */
export interface ClusterChatParts {
  readonly client: NodeClient
  /** Reads entries of a conversation from the store. */
  readonly history: (id: string, options: Parameters<TurnParts["entries"]>[0]) => ReturnType<TurnParts["entries"]>
  /** How long a verb waits for a home, and how long an interrupted turn may take to be resumed, in milliseconds. */
  readonly deadlineMs: number
  readonly isResumed: boolean
  /** The checks of a chat of this program. */
  readonly checks: RunningTroupe["checks"]
}

/**
 * A chat of a cluster: `ChatRef`, and `monitor`.
 *
 * **Details**: the result of a turn has the thread from the turn's input on, and no `steps`: the history has all of them.
 */
export class ClusterChatRef implements ChatRef {
  readonly id: string
  readonly #parts: ClusterChatParts
  readonly #chat: string
  readonly #host: string
  /** The agent of the chat if it is new, also at another home. */
  readonly #agent: string | undefined
  /** The receipt of the newest turn. */
  #newest: Promise<unknown> = Promise.resolve()

  /** Created by the Troupe of a cluster. */
  constructor(parts: ClusterChatParts, id: string, agent?: string) {
    this.id = id
    this.#parts = parts
    this.#agent = agent
    this.#chat = `/chats/${pathPart("id", id)}`
    this.#host = `/host/${pathPart("id", id)}`
  }

  send<A = unknown>(input: Input, options: Ask = {}): ClusterTurn<A> {
    const { checks, client } = this.#parts
    const { schema, whenBusy, model, id = client.newId() } = checks.ask(options)
    const message = checks.message(input)
    const form = schema === undefined ? undefined : StructuredOutput.format("object", schema).schema
    const sent = { whenBusy, model, id, agent: this.#agent }
    const body = { message: Codec.toJson("Message", message).data, schema: form, ...sent }
    return this.#turn<A>(`${this.#host}/messages`, body, id, schema)
  }

  retry(): ClusterTurn {
    const { path, body } = requestOf("retry")
    return this.#turn(`${this.#chat}${path}`, body)
  }

  compact(): ClusterTurn {
    const { path, body } = requestOf("compact")
    return this.#turn(`${this.#chat}${path}`, body)
  }

  answer(answers: Answers, options: Parameters<ChatRef["answer"]>[1] = {}): ClusterTurn {
    const { checks, client } = this.#parts
    const { id = client.newId() } = checks.answering(options)
    const { decisions, results, input } = checks.answers(answers)
    const body = {
      decisions: Object.fromEntries(decisions.map(({ toolCallId, decision }) => [toolCallId, decision])),
      results,
      message: input && Codec.toJson("Message", input).data,
      id
    }
    return this.#turn(`${this.#host}/answer`, body, id)
  }

  submitToolResults(results: Readonly<Record<string, unknown>>): ClusterTurn {
    this.#parts.checks.results(results)
    return this.answer({ results })
  }

  approve(toolCallId: string, decision: Parameters<ChatRef["approve"]>[1]): ClusterTurn {
    return this.answer({ decisions: { [this.#parts.checks.toolCallId(toolCallId)]: decision } })
  }

  #turn<A = unknown>(path: string, body: unknown, id?: string, schema?: Ask["schema"]): ClusterTurn<A> {
    const { client, history, deadlineMs, isResumed } = this.#parts
    const parts: TurnParts = {
      client,
      path,
      body,
      id,
      schema,
      view: () => this.view(),
      entries: (options) => history(this.id, options),
      resumedMs: isResumed ? deadlineMs : 0,
      before: this.#newest
    }
    const turn = new ClusterTurn<A>(parts)
    this.#newest = turn.receipt
    return turn
  }

  /** The turns of inputs that were accepted before the last restart. */
  async resume(): Promise<ReadonlyArray<ClusterTurn>> {
    const { turns } = (await this.#verb(`${this.#host}/resume`)) as {
      readonly turns: ReadonlyArray<{ readonly id: string }>
    }
    return turns.map((turn) => this.#turn(`${this.#host}/messages`, turn, turn.id))
  }

  attach(options: Parameters<ChatRef["attach"]>[0] = {}): ClusterReader {
    this.#parts.checks.attach(options)
    return new ClusterReader(this.#parts.client, `${this.#chat}/events`, () => this.start(), options)
  }

  async view(): Promise<ChatView.ChatView> {
    return (await this.#ask("GET", this.#chat)) as ChatView.ChatView
  }

  async cancel(options?: Parameters<ChatRef["cancel"]>[0]): Promise<void> {
    const { checks } = this.#parts
    try {
      await this.#run("cancel", checks.cancel(options))
    } catch (error) {
      const isUnknown = error instanceof SessionError && error.reason === "unknown_input"
      if (!isUnknown || !checks.isOver(options?.turn)) throw error
    }
  }

  async withdraw(input: Parameters<ChatRef["withdraw"]>[0]): Promise<void> {
    await this.#run("withdraw", this.#parts.checks.input(input))
  }

  async cancelToolCall(toolCallId: string): Promise<void> {
    await this.#run("cancelToolCall", this.#parts.checks.toolCallId(toolCallId))
  }

  async cancelToolCalls(): Promise<void> {
    await this.#verb(`${this.#host}/cancel-calls`)
  }

  async restartToolCall(toolCallId: string): Promise<void> {
    // A restart that was not answered is not repeated: the call could be restarted twice.
    const { path, body } = requestOf("restartToolCall", this.#parts.checks.toolCallId(toolCallId))
    await this.#parts.client.ask("POST", `${this.#chat}${path}`, body)
  }

  async tasks(): ReturnType<ChatRef["tasks"]> {
    return (await this.view()).tasks
  }

  async awaitTask(task: string): ReturnType<ChatRef["awaitTask"]> {
    for (;;) {
      const path = `${this.#chat}/tasks/${pathPart("task", this.#parts.checks.task(task))}`
      const found = (await this.#ask("GET", path)) as Found
      if (found.status !== "running") return { status: found.status, text: found.text }
      await pause(this.#parts.client, taskPauseMs)
    }
  }

  async cancelTask(task: string): Promise<void> {
    await this.#run("cancelTask", this.#parts.checks.task(task))
  }

  async setPermissionMode(...given: Parameters<ChatRef["setPermissionMode"]>): Promise<void> {
    await this.#verb(`${this.#host}/mode`, this.#parts.checks.mode(...given))
  }

  async handoff(agent: string): Promise<void> {
    this.#parts.checks.agent(agent)
    await this.#run("handoff", agent)
  }

  async stop(): Promise<void> {
    await this.#verb(`${this.#host}/stop`)
  }

  /** Starts the chat's process at its home, if it has none. */
  async start(): Promise<void> {
    await this.#verb(`${this.#host}/start`, { agent: this.#agent })
  }

  /** Monitors the chat's process (CLUSTER16). Resolves when the monitor is set. */
  monitor(): Promise<ChatMonitor> {
    return monitorChat(this.#parts.client, this.id, `${this.#host}/monitor`)
  }

  /** Sends a verb that may be repeated. */
  #run<Name extends ChatLink.Verb>(...verb: Parameters<typeof requestOf<Name>>): Promise<unknown> {
    const { path, body } = requestOf(...verb)
    return this.#verb(`${this.#chat}${path}`, body)
  }

  #verb(path: string, body: unknown = {}): Promise<unknown> {
    return this.#ask("POST", path, body)
  }

  /**
   * Sends a request that may be repeated: until it is answered, or until the deadline. A chat of which nothing is stored is unknown to
   * the next home, and is started there.
   */
  async #ask(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown> {
    const { client, deadlineMs } = this.#parts
    const until = client.clock.now() + deadlineMs
    const isPassing = passingFor(client)
    for (let isStarted = false; ;) {
      try {
        return await client.ask(method, path, body)
      } catch (error) {
        if (!isStarted && isUnknown(error)) {
          isStarted = true
          await this.start()
          continue
        }
        if (!isPassing(error) || client.clock.now() >= until) throw error
        await pause(client, pauseMs)
      }
    }
  }
}

/** A background task that runs, or its end. */
type Found = { readonly status: "running" } | Awaited<ReturnType<ChatRef["awaitTask"]>>

const isUnknown = (error: unknown): boolean => error instanceof SessionError && error.reason === "unknown_chat"

const pauseMs = 50

/** How often the home of a chat is asked whether a background task has ended, in milliseconds. */
const taskPauseMs = 500
