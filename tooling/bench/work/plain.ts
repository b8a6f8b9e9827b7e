/** The same models and tools on plain async generators. */
import { answers, callIds, type Pace, read, wantsTools, work } from "./programA.ts"

async function* loop(pace: Pace) {
  yield* wantsTools()
  for (const id of await Promise.all(callIds.map((call) => work(call)))) {
    yield { type: "tool_execution_started", id }
    yield { type: "tool_execution_completed", id }
    yield { type: "tool_result_encoded", id }
  }
  yield { type: "step_completed" }
  yield* answers(pace)
  yield { type: "step_completed" }
  yield { type: "chat_completed" }
}

/** Program A in nested generators. */
export const plainChat = (pace: Pace): Promise<void> => read(loop(pace))
