/** A function whose outcomes are made by the library. */
import { HandlerResult } from "@troupe/chat/results"
import * as Effect from "effect/Effect"

export const outcomes = ({ how }: { readonly how: string }): unknown => {
  switch (how) {
    case "ok":
      return HandlerResult.ok(1)
    case "error":
      return HandlerResult.error("no")
    case "ask":
      return HandlerResult.askUser("which?", { choices: ["a", "b"] })
    case "halt":
      return HandlerResult.halt("enough", { n: 1 })
    case "effect":
      return Effect.delay(Effect.succeed(HandlerResult.ok("of an effect")), 1)
    default:
      return Effect.fail("effect failed")
  }
}
