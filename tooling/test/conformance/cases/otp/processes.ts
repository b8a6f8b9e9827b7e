import { argumentError, down, exited, idle, main, ref, runtimeError } from "./program.ts"
import type { Program } from "./program.ts"

/** Programs about processes. */
export const processes: ReadonlyArray<Program> = [
  {
    law: "what comes after a raise runs, and what comes after a signal runs too",
    given: {
      procs: {
        a: { script: [["try_after", ["raise", "r"], [["note", "after raise"]]]] },
        b: { script: [["try_after", ["wait_forever"], [["note", "after kill"]]]] }
      }
    },
    when: [
      ["spawn", "a"],
      ["await_death", "a"],
      ["spawn", "b"],
      ["sleep", 5],
      ["exit_signal", "b", "kill"]
    ],
    observed: {
      obs: main(["exit_signal", true]),
      exits: { a: runtimeError("r"), b: "killed" },
      trace: [
        ["a", "note", "after raise"],
        ["b", "note", "after kill"]
      ]
    }
  },
  {
    law: "a selective receive leaves the others, and waits for what comes later",
    when: [
      ["send", "main", ["x", 1]],
      ["send", "main", ["y", 2]],
      ["receive", ["y", "_"], 50],
      ["receive", ["z", "_"], 5],
      ["send_after", "t", "main", ["z", 3], 20],
      ["receive", ["z", "_"], 50],
      ["flush"]
    ],
    observed: {
      obs: main(["received", ["y", 2]], ["timeout"], ["received", ["z", 3]], ["flushed", [["x", 1]]])
    }
  },
  {
    law: "a name nobody has fails the sender, a dead process does not",
    given: { procs: { a: { script: [] } } },
    when: [
      ["spawn", "a"],
      ["await_death", "a"],
      ["send", "a", "lost"],
      ["catch", ["send_name", "nobody", "x"]],
      ["catch", ["unregister", "nobody"]],
      ["catch", ["link", "a"]],
      ["monitor", "a", "m"],
      ["receive", "_", 10],
      ["exit_signal", "a", "x"],
      ["trap_exit", true],
      ["link", "a"],
      ["receive", "_", 10]
    ],
    observed: {
      obs: main(
        ["caught", "error", argumentError],
        ["caught", "error", argumentError],
        ["caught", "error", { error: "noproc" }],
        ["received", down("m", "a", "noproc")],
        ["exit_signal", true],
        ["trap_exit_was", false],
        ["link", true],
        ["received", exited("a", "noproc")]
      ),
      exits: { a: "normal" }
    }
  },
  {
    law: "what is known of a process: its queue, links, name and flag",
    given: { procs: { a: idle } },
    when: [
      ["spawn_link", "a"],
      ["register", "a", "bob"],
      ["send_name", "bob", 1],
      ["send", "a", 2],
      ["sleep", 5],
      ["info", "a", "message_queue_len"],
      ["info", "a", "links"],
      ["info", "a", "registered_name"],
      ["info", "a", "trap_exit"],
      ["unregister", "bob"],
      ["whereis", "bob"],
      ["links"]
    ],
    observed: {
      obs: main(
        ["register", "a", "bob", true],
        ["info", "a", "message_queue_len", 2],
        ["info", "a", "links", ["main"]],
        ["info", "a", "registered_name", "bob"],
        ["info", "a", "trap_exit", false],
        ["unregister", "bob", true],
        ["whereis", "bob", null],
        ["links", ["a"]]
      ),
      alive: ["a"]
    }
  },
  {
    law: "a monitor by name has the name; with info, demonitor returns whether it was active",
    given: { procs: { a: idle, b: idle } },
    when: [
      ["spawn", "a"],
      ["register", "a", "bob"],
      ["monitor_name", "bob", "m"],
      ["spawn_monitor", "b", "n"],
      ["demonitor", "n", "info"],
      ["demonitor", "n", "flush", "info"],
      ["exit_signal", "a", "x"],
      ["receive", "_", 10]
    ],
    observed: {
      obs: main(
        ["register", "a", "bob", true],
        ["demonitor", true],
        ["demonitor", false],
        ["exit_signal", true],
        ["received", ["DOWN", ref("m"), "process", ["bob", "nonode@nohost"], "x"]]
      ),
      exits: { a: "x" },
      alive: ["b"]
    }
  },
  {
    law: "a timer can be cancelled, read, wrapped, and sent to a name nobody has",
    when: [
      ["send_after", "t", "main", "tick", 30],
      ["cancel_timer", "t"],
      ["cancel_timer", "t"],
      ["start_timer", "u", "main", "wrapped", 10],
      ["send_after_name", "v", "nobody", "x", 5],
      ["receive", "_", 50],
      ["read_timer", "u"],
      ["flush"]
    ],
    observed: {
      obs: main(
        ["cancel_timer", "t", "int"],
        ["cancel_timer", "t", false],
        ["received", ["timeout", ref("u"), "wrapped"]],
        ["read_timer", "u", false],
        ["flushed", []]
      )
    }
  },
  {
    law: "a step that is caught and does not fail is reported with its worth",
    given: { procs: { a: idle } },
    when: [
      ["spawn", "a"],
      ["catch", ["alive", "a"]],
      ["catch", ["sleep", 1]]
    ],
    observed: { obs: main(["alive", "a", true], ["ok", true], ["ok", "_"]), alive: ["a"] }
  },
  {
    law: "a signal is on its way while its sender looks at its own mail, and lands before anything else",
    given: { procs: { a: idle } },
    when: [["spawn_monitor", "a", "m"], ["exit_signal", "a", "x"], ["flush"], ["alive", "a"], ["flush"]],
    observed: {
      obs: main(["exit_signal", true], ["flushed", []], ["alive", "a", false], ["flushed", [down("m", "a", "x")]]),
      exits: { a: "x" }
    }
  }
]
