/** A function whose outcomes are made by the library. */
import { askUser, error, halt, ok } from "@troupe/chat"
import * as Effect from "effect/Effect"

export const outcomes = ({ how }: { readonly how: string }): unknown => {
  switch (how) {
    case "ok":
      return ok(1)
    case "error":
      return error("no")
    case "ask":
      return askUser("which?", { choices: ["a", "b"] })
    case "halt":
      return halt("enough", { n: 1 })
    case "effect":
      return Effect.delay(Effect.succeed(ok("of an effect")), 1)
    default:
      return Effect.fail("effect failed")
  }
}
