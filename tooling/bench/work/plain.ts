/** The same models and tools on plain async generators. */
import { answers, callIds, chats, type Pace, read, readLength, together, wantsTools, work } from "./programA.ts"

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

/** Program A in 1,000 nested generators. */
export const plainChats = (pace: Pace): Promise<void> => together(chats, () => read(loop(pace)))

/** One answer, read directly. */
export const plainDeltas = (deltas: number): Promise<void> => readLength(answers("at once", deltas), deltas)
