/**
 * Joins the chunks of one chat completion, from several homes.
 *
 * COMPLSPLICE1. A client gets each step that is over once. When a step begins again with the text that the client has of it, the client
 *               gets the rest. Otherwise it gets the whole text as another paragraph, since the protocol takes back no text.
 * COMPLSPLICE2. All chunks have one id. A call has the next free index.
 */
import type { Splice } from "../../http/index.ts"
import { dataFrame, doneFrame } from "../../wire/index.ts"

interface CallDelta {
  readonly index: number
  readonly id?: string
  readonly function: { readonly name?: string; readonly arguments: string }
}

interface Delta {
  content?: string
  reasoning_content?: string
  tool_calls?: ReadonlyArray<CallDelta>
  readonly [other: string]: unknown
}

interface Chunk {
  readonly id: string
  readonly created: number
  readonly choices: ReadonlyArray<{ readonly delta: Delta; readonly finish_reason: string | null }>
}

/** A text that the client has of a step, as far as the step has not repeated it. */
class Repeated {
  #rest: string
  #same = ""

  constructor(text: string) {
    this.#rest = text
  }

  /** The part of a fragment that the client does not have. */
  push(delta: string): string {
    if (this.#rest === "") return delta
    if (this.#rest.startsWith(delta)) {
      this.#rest = this.#rest.slice(delta.length)
      this.#same += delta
      return ""
    }
    const { length } = this.#rest
    const isSame = delta.startsWith(this.#rest)
    this.#rest = ""
    return isSame ? delta.slice(length) : `\n\n${(this.#same + delta).trimStart()}`
  }

  /** The text of a step that has ended before it has repeated all. */
  end(): string {
    const text = this.#rest === "" ? "" : this.#same.trimStart()
    this.#rest = ""
    return text === "" ? "" : `\n\n${text}`
  }
}

/** The state of a join: the steps of the present answer so far, and what the client has of the step that was cut. */
interface Join {
  seen: number
  readonly content: Repeated
  readonly reasoning: Repeated
  readonly others: Set<string>
}

/** The role, the sources and the images of a delta. */
const othersIn = (delta: Delta): object =>
  Object.fromEntries(Object.entries(delta).filter(([name]) => !texts.has(name)))

const texts: ReadonlySet<string> = new Set(["content", "reasoning_content", "tool_calls"])

/** Makes one for the chunks of a completion. A comment is in front of each step. */
export const completionSplice = (): Splice => {
  let first: Chunk | undefined
  let steps = 0
  /** The frames of the present step. */
  let step: Array<string> = []
  let join: Join | undefined
  /** The client's index of each call, by its id, and by the index of the present home. */
  const calls = new Map<string, { readonly index: number; written: string; repeated: Repeated }>()
  let [own, hasMoved] = [new Map<number, string>(), false]

  const chunkOf = (frame: string): Chunk | undefined => {
    if (!frame.startsWith("data: {")) return undefined
    const chunk = JSON.parse(frame.slice("data: ".length)) as Partial<Chunk>
    return chunk.choices === undefined ? undefined : (chunk as Chunk)
  }

  const callsIn = (tool_calls: ReadonlyArray<CallDelta>): ReadonlyArray<CallDelta> =>
    tool_calls.flatMap((delta): ReadonlyArray<CallDelta> => {
      const id = delta.id ?? own.get(delta.index) ?? ""
      own.set(delta.index, id)
      const known = calls.get(id)
      const call = known ?? { index: calls.size, written: "", repeated: new Repeated("") }
      calls.set(id, call)
      const text = call.repeated.push(delta.function.arguments)
      call.written += text
      if (known !== undefined && text === "") return []
      return [{ ...delta, index: call.index, function: { ...delta.function, arguments: text } }]
    })

  /** Notes the calls of a frame that is passed as it is. */
  const noteCalls = (frame: string): void => {
    for (const { delta } of chunkOf(frame)?.choices ?? []) callsIn(delta.tool_calls ?? [])
  }

  const joined = (frame: string): string => {
    if (frame.startsWith(": step")) {
      if (join !== undefined && ++join.seen <= steps) return ""
      const rest = ended()
      join = undefined
      return rest + marked(frame)
    }
    const chunk = chunkOf(frame)
    if (chunk === undefined) return frame.startsWith("data: ") ? frame : ""
    const [choice] = chunk.choices
    const isOver = choice === undefined || choice.finish_reason !== null
    const again = first === undefined ? chunk : { ...chunk, id: first.id, created: first.created }
    if (join === undefined && choice?.delta.tool_calls === undefined) return noted(dataFrame(again))
    if (isOver) {
      const rest = ended()
      join = undefined
      return rest + dataFrame(again)
    }
    if (join !== undefined && join.seen < steps) {
      if (choice.delta.tool_calls !== undefined) callsIn(choice.delta.tool_calls)
      return ""
    }
    const delta = deltaOf(choice.delta)
    return delta === undefined ? "" : noted(dataFrame({ ...again, choices: [{ ...choice, delta }] }))
  }

  /** The part of a delta that the client does not have. */
  const deltaOf = ({ content = "", reasoning_content = "", tool_calls, ...others }: Delta): Delta | undefined => {
    const delta: Delta = join?.others.has(JSON.stringify(others)) === true ? {} : { ...others }
    const text = join?.content.push(content) ?? content
    const reasoning = join?.reasoning.push(reasoning_content) ?? reasoning_content
    const fresh = tool_calls === undefined ? [] : callsIn(tool_calls)
    if (text !== "") delta.content = text
    if (reasoning !== "") delta.reasoning_content = reasoning
    if (fresh.length > 0) delta.tool_calls = fresh
    return Object.keys(delta).length === 0 ? undefined : delta
  }

  const ended = (): string => {
    const content = join?.content.end() ?? ""
    return content === "" || first === undefined
      ? ""
      : dataFrame({ ...first, choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }] })
  }

  const marked = (frame: string): string => {
    steps += 1
    for (const one of step) if (!hasMoved) noteCalls(one)
    step = []
    return frame
  }

  const noted = (frame: string): string => {
    first ??= chunkOf(frame)
    step.push(frame)
    return frame
  }

  const passed = (frame: string): string => (frame.startsWith(": step") ? marked(frame) : noted(frame))

  return {
    push: (frame) => (hasMoved ? joined(frame) : passed(frame)),
    again: (headers) => {
      const deltas = step.flatMap((frame) => chunkOf(frame)?.choices.map(({ delta }) => delta) ?? [])
      if (!hasMoved) for (const frame of step) noteCalls(frame)
      for (const call of calls.values()) call.repeated = new Repeated(call.written)
      const all = (name: "content" | "reasoning_content") => deltas.map((delta) => delta[name] ?? "").join("")
      const others = deltas.map((delta) => JSON.stringify(othersIn(delta)))
      own = new Map()
      hasMoved = true
      join = {
        seen: 0,
        content: new Repeated(all("content")),
        reasoning: new Repeated(all("reasoning_content")),
        others: new Set(others)
      }
      return headers
    },
    failed: () =>
      dataFrame({
        error: { message: "The conversation moves; ask again", type: "server_error", param: null, code: "moved" }
      }) + doneFrame
  }
}
