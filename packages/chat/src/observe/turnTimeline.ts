/** Observes the timeline of one chat, across its stops and starts. */
import { type System, Telemetry } from "@troupe/otp"
import * as Zombies from "../call/Zombies.ts"
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
      const detach = Telemetry.attach(system, "tool_call.late_completion", ({ at, measurements, metadata }) => {
        const { toolCall, sessionId, result } = metadata
        const since = at - measurements.lateMs
        if (sessionId === chat) followed?.recorder.zombieEnded(toolCall.id, toolCall.name, since, at, result)
      })
      return () => {
        detach()
        leave()
      }
    },
    look: (before) => {
      follow()
      followed?.recorder.see()
      followed?.recorder.seeZombies(Zombies.list(system).filter(({ sessionId }) => sessionId === chat))
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
