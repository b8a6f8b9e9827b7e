import type { Json, JsonObject } from "../../../../conformance/runner/json.ts"
import { inside, main, runtimeError } from "./program.ts"
import type { Program } from "./program.ts"

const inputs = (...sleeps: ReadonlyArray<number>): Json => sleeps.map((sleep, index) => ({ id: index + 1, sleep }))
const ok = (...ids: ReadonlyArray<number>): Json => ["stream", ids.map((id) => ["ok", id])]
const normal = (...ids: ReadonlyArray<number>): JsonObject =>
  Object.fromEntries(ids.map((id) => [`task_${id}`, "normal"]))

/** Programs about streams. */
export const streams: ReadonlyArray<Program> = [
  {
    law: "unordered results come as they are completed, so many at once",
    when: [
      ["async_stream", { inputs: inputs(50, 10, 30), max_concurrency: 2, ordered: false }],
      ["stream_stats"],
      ["stream_started_sorted"]
    ],
    observed: {
      obs: main(
        ok(2, 3, 1),
        ["pulled", [1, 2, 3]],
        ["started", [1, 2, 3]],
        ["completed", [2, 3, 1]],
        ["peak", 2],
        ["started", [1, 2, 3]]
      ),
      exits: normal(1, 2, 3)
    }
  },
  {
    law: "a stream nobody consumes pulls and starts nothing",
    when: [["async_stream", { inputs: inputs(1), consume: "none" }], ["stream_stats"]],
    observed: {
      obs: main(["stream", []], ["pulled", []], ["started", []], ["completed", []], ["peak", 0])
    }
  },
  {
    law: "a consumer that stops or fails ends the tasks that run, supervised ones too",
    when: [
      ["start_tasksup", "ts"],
      ["async_stream", { nolink_sup: "ts", inputs: inputs(5, 300), max_concurrency: 2, consume: ["take", 1] }],
      ["alive", "task_2"],
      ["catch", ["async_stream", { inputs: inputs(5, 300), max_concurrency: 2, consume: ["raise_after", 1] }]],
      ["alive", "task_2"],
      ["dyn_count", "ts"]
    ],
    observed: {
      obs: main(
        ok(1),
        ["alive", "task_2", false],
        ["caught", "error", runtimeError("consumer")],
        ["alive", "task_2", false],
        ["count_children", { specs: 0, active: 0, supervisors: 0, workers: 0 }]
      ),
      exits: { task_1: "normal", task_2: "killed", "task_1#2": "normal", "task_2#2": "killed" },
      alive: ["ts"]
    }
  },
  {
    law: "a task over its time ends its owner, which takes the others along; so does its owner's death",
    given: {
      procs: {
        a: { script: [["async_stream", { inputs: inputs(1, 300, 300), timeout: 50, max_concurrency: 3 }]] },
        b: { script: [["async_stream", { inputs: inputs(300) }]] },
        c: {
          script: [
            ["async_stream", { inputs: [{ id: 1 }, { id: 2, sleep: 20, exit: "boom" }], consume: ["each_sleep", 100] }]
          ]
        }
      }
    },
    when: [
      ["spawn", "a"],
      ["await_death", "a"],
      ["spawn", "b"],
      ["sleep", 5],
      ["exit_signal", "b", "gone"],
      ["await_death", "b"],
      ["spawn", "c"],
      ["await_death", "c"]
    ],
    observed: {
      obs: main(["exit_signal", true]),
      exits: {
        a: ["timeout", inside("Task.Supervised.stream")],
        task_1: "normal",
        task_2: "killed",
        task_3: "killed",
        b: "gone",
        "task_1#2": "gone",
        c: "boom",
        "task_1#3": "normal",
        "task_2#2": "boom"
      }
    }
  },
  {
    law: "one at a time is one after the other",
    when: [["async_stream", { inputs: inputs(10, 1, 5), max_concurrency: 1 }], ["stream_interleave"]],
    observed: {
      obs: main(ok(1, 2, 3), [
        "interleave",
        [1, 2, 3].flatMap((id) => [
          ["pulled", id],
          ["consumed", ["ok", id]]
        ])
      ]),
      exits: normal(1, 2, 3)
    }
  }
]
