/** The environment of a chart, which a chart without its live things does not have. */
import { EngineError } from "./ChatError.ts"

/** The environment; throws an `EngineError` (`invalid_engine`) when the chart was started without one. */
export const boundEnvironment = <Env>(env: Env | undefined): Env => {
  if (env !== undefined) return env
  throw new EngineError("invalid_engine", {
    message:
      "This machine has no engine. For a chat write createActor(provide(engine)), and for another machine " +
      "createActor(bind(machine, environment(engine))); import { bind, environment, provide } from " +
      '"@troupe/chat/machines"'
  })
}
