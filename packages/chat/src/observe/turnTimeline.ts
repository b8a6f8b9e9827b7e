/** Observes the timeline of one chat, across its stops and starts. */
import type { System } from "@troupe/otp"
import { watchZombies } from "../call/index.ts"
import type { LiveChat } from "../live/index.ts"
import { type Past, TurnRecorder } from "./turnRecorder.ts"
import type { Sight } from "./poller.ts"
import type { Span, Timeline } from "./observed.ts"

/** How the newest turns of a chat are observed. */
export const timelineSight = (
  system: System.System,
  chat: string,
  living: (id: string) => LiveChat | undefined
): Sight<Timeline> => {
  let past: Past = { turns: 0, spans: [] }
  let followed: { readonly recorder: TurnRecorder; readonly unhook: () => void } | undefined
  const leave = (): void => {
    if (followed === undefined) return
    followed.unhook()
    past = followed.recorder.left()
    followed = undefined
  }
  /** Follows the present chat object: the chat may have been stopped and started again. */
  const follow = (): void => {
    const now = living(chat)
    if (now === undefined || followed?.recorder.isOf(now) === true) return
    leave()
    const recorder = new TurnRecorder(now, system.clock, past, living)
    followed = { recorder, unhook: now.state.watch(recorder.see) }
  }
  return {
    opened: () => {
      follow()
      const changed: Parameters<typeof watchZombies>[1]["changed"] = ({ toolCall, since }, result) =>
        followed?.recorder.seeZombie(toolCall, since, result)
      const unwatch = watchZombies(system, { sessionId: chat, changed })
      return () => {
        unwatch()
        leave()
      }
    },
    look: (before) => {
      follow()
      followed?.recorder.see()
      const spans = followed?.recorder.spans ?? past.spans
      const unchanged = before !== undefined && isSame(before.spans, spans)
      return unchanged && spans.every(({ to }) => to !== undefined)
        ? before
        : { chat, at: system.clock.now(), spans: unchanged ? before.spans : spans }
    }
  }
}

const isSame = (one: ReadonlyArray<Span>, other: ReadonlyArray<Span>): boolean =>
  one.length === other.length && one.every((span, index) => span === other[index])
