/** A turn for a chat machine without a Troupe. */
import { type ChatOptions, resolveOptions } from "../options/index.ts"
import { type Event, outletIn } from "../events/index.ts"
import { type UserInput, userMessage } from "../model/index.ts"
import type { Engine } from "../tool/index.ts"
import type { Turn } from "../inbox/index.ts"

/** The options of a chat, without `signal`, because `turn.cancel` cancels the turn. */
export interface OwnTurnOptions extends Omit<ChatOptions, "signal"> {
  /** Called with each event of the turn. */
  readonly published?: ((event: Event) => void) | undefined
}

/**
 * A turn with a user message, for a chat machine under your own actor: in a page with `useMachine`, or under `createActor`.
 *
 * **Details**: the turn is the payload of `turn.start`. Its `options` and `outlet` are also inputs of the step machine, and
 * its `options` an input of the tool call machine.
 *
 * **Errors**: throws a `ValidationError` for an invalid message or invalid options; an `EngineError` for an engine that
 * cannot be used.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake } from "@troupe/chat"
 * import { chatMachine, turn } from "@troupe/chat/machines"
 * import { createActor, waitFor } from "xstate"
 *
 * const engine = Engine.make({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
 * const actor = createActor(chatMachine, { input: { id: "c1", engine } }).start()
 * actor.send({ type: "turn.start", turn: turn(engine, "Hello") })
 * const { context } = await waitFor(actor, (snapshot) => snapshot.context.lastHaltedReason !== undefined)
 * context.thread.messages.map(({ content }) => content) // => ["Hello", "Hi."]
 * actor.stop()
 * ```
 */
export const turn = (engine: Engine, input: UserInput, { published, ...options }: OwnTurnOptions = {}): Turn => {
  const message = userMessage(input)
  const resolved = resolveOptions(engine, options)
  const outlet = outletIn(resolved.system)
  outlet.drive(published ?? (() => {}))
  return { messages: [message], options: resolved, outlet }
}
