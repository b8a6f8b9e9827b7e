/**
 * The calls that run at a server. In the older protocol the server asks while they run.
 *
 * Owns: the open calls, and the questions that have no answer yet. Does not own the connection.
 *
 * OPENCALL1. A call whose server asks goes on at the server while a person thinks; its handler has ended. The answer finds the call by its
 *            key. When the connection is lost, the call is too, and an answer that comes later finds none.
 * OPENCALL2. At most 256 calls wait for answers. The oldest beyond that is cancelled at the server, and its outcome is unknown. A call that
 *            ends while it waits, for example by a cancel of its turn, is cancelled at the server too.
 * OPENCALL3. A question of the older protocol does not name its call: with several calls the one that began last asks.
 */
import type { ElicitResult } from "@modelcontextprotocol/client"
import type { Asked, CallEnd, McpCall } from "./mcpCall.ts"

/** A call that is sent: how it begins, when it is cancelled, and its present run. */
export interface OpenRequest {
  readonly call: McpCall
  readonly cancel: AbortSignal
  readonly current: () => McpCall
}

interface OpenCall {
  call: McpCall
  readonly cancel: AbortController
  readonly questions: Map<string, { readonly asked: Asked; readonly answer: (result: ElicitResult) => void }>
  /** Resolves with the next question. */
  next: PromiseWithResolvers<undefined>
  isWaiting: boolean
  result: Promise<CallEnd>
}

const mostWaiting = 256

const cancelled: ElicitResult = { action: "cancel" }

/** The open calls of one connection. */
export class OpenCalls {
  readonly #open = new Map<string, OpenCall>()

  /** The calls that run or wait, for a host that answers by itself. */
  get running(): ReadonlyArray<McpCall["toolCall"]> {
    return Array.from(this.#open.values(), ({ call }) => call.toolCall)
  }

  /** Runs a call until it ends or asks; aborting the signal of the call cancels it. */
  begin(call: McpCall, run: (request: OpenRequest) => Promise<CallEnd>): Promise<CallEnd> {
    const cancel = new AbortController()
    const open: OpenCall = {
      call,
      cancel,
      questions: new Map(),
      next: Promise.withResolvers(),
      isWaiting: false,
      result: run({ call, cancel: cancel.signal, current: () => open.call })
    }
    // A call that waits for an answer has no reader.
    open.result.catch(() => {})
    this.#open.set(call.key, open)
    return this.#until(open)
  }

  /** Gives a call the answers of a person; `undefined` if it has no connection any more (OPENCALL1). */
  resume(call: McpCall, answers: Readonly<Record<string, ElicitResult>>): Promise<CallEnd> | undefined {
    const open = this.#open.get(call.key)
    if (open === undefined) return undefined
    open.call = call
    open.isWaiting = false
    open.next = Promise.withResolvers()
    for (const [id, result] of Object.entries(answers)) open.questions.get(id)?.answer(result)
    if (open.questions.size > 0) open.next.resolve(undefined)
    return this.#until(open)
  }

  /** The call that asks (OPENCALL3), if one runs or waits. */
  asking(): McpCall | undefined {
    return this.#asking(() => true)?.call
  }

  /** Asks a person; cancels the question if it is refused, or no call can wait for an answer. */
  ask(asked: Asked, isRefused: boolean, signal: AbortSignal): Promise<ElicitResult> {
    const open = this.#asking(({ mayWait }) => mayWait)
    if (open === undefined || isRefused || signal.aborted) return Promise.resolve(cancelled)
    return new Promise((resolve) => {
      const id = `q${crypto.randomUUID().slice(0, 8)}`
      const answer = (result: ElicitResult): void => {
        open.questions.delete(id)
        signal.removeEventListener("abort", withdraw)
        resolve(result)
      }
      const withdraw = (): void => answer(cancelled)
      signal.addEventListener("abort", withdraw, { once: true })
      open.questions.set(id, { asked, answer })
      open.next.resolve(undefined)
    })
  }

  #asking(isAble: (call: McpCall) => boolean): OpenCall | undefined {
    const able = Array.from(this.#open.values()).filter(({ call }) => isAble(call))
    return able.findLast(({ isWaiting }) => !isWaiting) ?? able.at(-1)
  }

  /** Drops all calls: their server is gone. */
  clear(): void {
    for (const open of this.#open.values()) this.#end(open)
  }

  async #until(open: OpenCall): Promise<CallEnd> {
    const { signal } = open.call
    const onAbort = (): void => open.cancel.abort(signal.reason)
    signal.addEventListener("abort", onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      let end = await Promise.race([open.result, open.next.promise])
      // The server can withdraw a question before its call sees it.
      while (end === undefined && open.questions.size === 0) {
        open.next = Promise.withResolvers()
        end = await Promise.race([open.result, open.next.promise])
      }
      if (end !== undefined) {
        this.#end(open)
        return end
      }
      this.#waits(open)
      const requests = Array.from(open.questions, ([id, { asked }]) => [id, asked] as const)
      const cancel = (): void => this.#cancel(open)
      return { type: "asks", requests: Object.fromEntries(requests), state: { open: true }, cancel }
    } catch (error) {
      this.#end(open)
      throw error
    } finally {
      signal.removeEventListener("abort", onAbort)
    }
  }

  /** Cancels a call that waits, at the server. */
  #cancel(open: OpenCall): void {
    if (!open.isWaiting || this.#open.get(open.call.key) !== open) return
    open.cancel.abort()
    this.#end(open)
  }

  #waits(open: OpenCall): void {
    // The newest is the last of the map.
    this.#open.delete(open.call.key)
    this.#open.set(open.call.key, open)
    open.isWaiting = true
    const waiting = Array.from(this.#open.values()).filter(({ isWaiting }) => isWaiting)
    const [oldest] = waiting
    if (oldest !== undefined && waiting.length > mostWaiting) this.#cancel(oldest)
  }

  #end(open: OpenCall): void {
    if (this.#open.get(open.call.key) === open) this.#open.delete(open.call.key)
    for (const { answer } of open.questions.values()) answer(cancelled)
  }
}
