/**
 * The stream of one response: for its creator, and for a client that reads it again, from its beginning or after a number.
 *
 * Owns: the items and the place of one stream. Does not own the run.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatSnapshot } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { HttpError } from "../../errors/index.ts"
import type { Call } from "../../http/index.ts"
import { eventFrame, type Follower, ofChat, type StepMessages } from "../../wire/index.ts"
import {
  endedState,
  failedState,
  ofFailure,
  ofRefusal,
  ofResult,
  responseBody,
  type ResponseEvent,
  type ResponseHead,
  type ResponseItems,
  ResponseNumbers,
  type ResponseState,
  unexpected
} from "../../wire/openAi/index.ts"
import type { Run } from "./openAiRun.ts"
import { hasStoredImage, withReplyImage } from "./replyImages.ts"

type Context = ChatSnapshot["context"]

/** The type of a stream's last event. */
const lastTypes = {
  completed: "response.completed",
  incomplete: "response.incomplete",
  failed: "response.failed",
  cancelled: "response.incomplete",
  in_progress: "response.in_progress"
} as const

const begins: ResponseState = { status: "in_progress", output: [] }

export class ResponseStream {
  readonly #head: ResponseHead
  readonly #newItems: () => ResponseItems
  readonly #numbers: ResponseNumbers
  readonly #mark: string
  #items: ResponseItems

  /** `after` is the number of the last event that the client has. `mark` is the frame in front of each step. */
  constructor(head: ResponseHead, newItems: () => ResponseItems, mark: string, after = -1) {
    this.#head = head
    this.#mark = mark
    this.#newItems = newItems
    this.#items = newItems()
    this.#numbers = new ResponseNumbers(after)
  }

  /** The first frames. */
  get first(): string {
    return this.#frames([this.#event("response.created", begins), this.#event("response.in_progress", begins)])
  }

  push(event: Event): string {
    const mark = event.type === "message_started" ? this.#mark : ""
    return mark === ""
      ? this.#frames(this.#items.push(event))
      : this.#frames(this.#items.end()) + mark + this.#frames(this.#items.push(event))
  }

  /** The frames of these steps and of the running one, in place of those of missed events. */
  again(steps: ReadonlyArray<StepMessages>, { text, reasoning = "" }: Context["partial"] = { text: "" }): string {
    this.#numbers.restart()
    this.#items = this.#newItems()
    const first = this.first
    const partial = this.#frames(this.#items.partial(reasoning, text))
    return [first, ...steps.map((step) => this.#mark + this.#frames(this.#items.step(step)))]
      .concat(partial === "" ? "" : this.#mark + partial)
      .join("")
  }

  /** The last frame, from the result of the run. */
  ended(result = this.#items.result): string {
    const { output } = this.#items
    return this.over(result === undefined ? failedState(unexpected, output) : endedState(result, output, ofResult))
  }

  /** The last frame, of a response that stands there. */
  over(state: ResponseState): string {
    return this.#frames([this.#event(lastTypes[state.status], state)])
  }

  failed(error: unknown): string {
    const ended = this.#items.end("incomplete")
    const state = failedState(ofFailure(error) ?? unexpected, this.#items.output)
    return this.#frames([...ended, this.#event("response.failed", state)])
  }

  /** The last frame of a stream that the server ends. */
  closed(why: HttpError): string {
    return this.#frames([this.#event("response.failed", failedState(ofRefusal(why), this.#items.output))])
  }

  #event(type: ResponseEvent["type"], state: ResponseState): ResponseEvent {
    return { type, response: responseBody(this.#head, state) }
  }

  #frames(events: ReadonlyArray<ResponseEvent>): string {
    return this.#numbers
      .next(events)
      .map((event) => eventFrame(event))
      .join("")
  }
}

/** The frames for the creator of a response. */
export async function* ofRun(call: Call, stream: ResponseStream, { events }: Run): AsyncGenerator<string, void> {
  try {
    yield stream.first
    for await (const event of events) {
      const frames = stream.push(event)
      if (frames !== "") yield frames
    }
    yield stream.ended()
  } catch (error) {
    call.cutIfMoved(error)
    yield stream.failed(error)
  } finally {
    await events.return?.()
  }
}

/** A response that is read again: its steps in a context, and where it stands. */
export interface StoredResponse {
  readonly steps: (context: Context) => ReadonlyArray<StepMessages>
  readonly state: (context: Context) => ResponseState
}

/** The frames for a client that reads a response while its turn runs. */
export async function* ofRunning(
  call: Call,
  chat: LocalChatRef,
  context: Context,
  stream: ResponseStream,
  stored: StoredResponse,
  signal: AbortSignal
): AsyncGenerator<string, void> {
  const follower: Follower<string | Extract<Event, { readonly type: "message_completed" }>> = {
    call,
    before: () => [],
    event: (event) =>
      hasStoredImage(event)
        ? [event]
        : [stream.push(event), ...(event.type === "chat_completed" ? [stream.ended()] : [])],
    standing: (now) => [stream.again(stored.steps(now), now.partial)],
    over: (now) => [stream.again(stored.steps(now)), stream.over(stored.state(now))],
    failed: (error) => {
      call.cutIfMoved(error)
      return [stream.failed(error)]
    }
  }
  const first = stream.first
  if (first !== "") yield first
  for await (const frames of ofChat(chat, context, follower, signal)) {
    for (const frame of frames) {
      const text = typeof frame === "string" ? frame : stream.push(await withReplyImage(call, chat, frame))
      if (text !== "") yield text
    }
  }
}

/** The frames of a response that is over. */
export async function* ofStored(
  context: Context,
  stream: ResponseStream,
  stored: StoredResponse
): AsyncGenerator<string, void> {
  const frames = [stream.again(stored.steps(context)), stream.over(stored.state(context))].join("")
  if (frames !== "") yield frames
}
