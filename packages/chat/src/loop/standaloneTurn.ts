/** A turn of a chat's machine that no Troupe runs. */
import { type ChatOptions, resolveOptions } from "../options/index.ts"
import { type Event, outletIn } from "../events/index.ts"
import { type UserInput, userMessage } from "../model/index.ts"
import type { Engine } from "../tool/index.ts"
import type { Turn } from "../inbox/index.ts"

/** How such a turn runs: the options of a chat, but for the signal, since `turn.cancel` cancels it. */
export interface OwnTurnOptions extends Omit<ChatOptions, "signal"> {
  /** Told of each event of the turn. */
  readonly published?: ((event: Event) => void) | undefined
}

/**
 * A turn that says something, for a chat's machine that runs under an actor of one's own: in a page with `useMachine`, or
 * under `createActor`.
 *
 * **Details**: it is what `turn.start` tells. Its `options` and `outlet` are also what the machine of a step is started with, and
 * its `options` what that of a tool call is.
 *
 * **Errors**: throws a `ValidationError` for what is no message, and for options that are none; an `EngineError` for an engine
 * that cannot be used.
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
