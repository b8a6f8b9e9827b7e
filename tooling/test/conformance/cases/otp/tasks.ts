import { argumentError, crash, exited, idle, inside, main, pid } from "./program.ts"
import type { Program } from "./program.ts"

/** Programs about tasks. */
export const tasks: ReadonlyArray<Program> = [
  {
    law: "only its owner awaits a task, also one that is known to others",
    given: {
      procs: {
        a: {
          script: [
            ["sleep", 5],
            ["catch", ["await", "t"]]
          ]
        },
        w: idle
      }
    },
    when: [
      ["task_async", "t", "w"],
      ["share_task", "t"],
      ["spawn", "a"],
      ["await_death", "a"]
    ],
    observed: { obs: { a: [["caught", "error", argumentError]] }, exits: { a: "normal" }, alive: ["w"] }
  },
  {
    law: "a task that is not awaited in time ends its owner and dies with it",
    given: {
      procs: {
        a: {
          script: [
            ["task_async", "t", "w"],
            ["await", "t", 10]
          ]
        },
        w: idle
      }
    },
    when: [
      ["spawn", "a"],
      ["await_death", "a"]
    ],
    observed: {
      obs: {},
      exits: { a: ["timeout", inside("Task.await")], w: ["timeout", inside("Task.await")] }
    }
  },
  {
    law: "a supervised task that is linked ends its owner; one without reply ends nobody but by its link",
    given: {
      procs: {
        a: {
          script: [
            ["sup_async", "ts", "t", "w"],
            ["await", "t"]
          ]
        },
        b: { script: [["task_start_link", "w"], ["wait_forever"]] },
        c: { script: [["task_start", "w"], ["wait_forever"]] },
        w: crash
      }
    },
    when: [
      ["start_tasksup", "ts"],
      ["spawn", "a"],
      ["await_death", "a"],
      ["spawn", "b"],
      ["await_death", "b"],
      ["spawn", "c"],
      ["sleep", 5],
      ["alive", "c"]
    ],
    observed: {
      obs: main(["alive", "c", true]),
      exits: { a: "boom", b: "boom", w: "boom", "w#2": "boom", "w#3": "boom" },
      alive: ["c", "ts"]
    }
  },
  {
    law: "a transient task is run again until its supervisor gives up",
    given: {
      main: { trap_exit: true },
      procs: {
        w: {
          script: [
            ["sleep", 5],
            ["exit", "boom"]
          ]
        }
      },
      tasksups: { ts: { max_restarts: 1 } }
    },
    when: [
      ["start_tasksup", "ts"],
      ["start_child_task", "ts", "w", { restart: "transient" }],
      ["await_death", "ts"],
      ["flush"]
    ],
    observed: {
      obs: main(["start_child", ["ok", pid("w")]], ["flushed", [exited("ts", "shutdown")]]),
      exits: { w: "boom", "w#2": "boom", ts: "shutdown" }
    }
  },
  {
    law: "yield or shutdown gives nothing once the time is over",
    given: { procs: { w: idle } },
    when: [["task_async", "t", "w"], ["yield_or_shutdown", "t", 10], ["flush"]],
    observed: { obs: main(["yield_or_shutdown", "t", null], ["flushed", []]), exits: { w: "shutdown" } }
  }
]
