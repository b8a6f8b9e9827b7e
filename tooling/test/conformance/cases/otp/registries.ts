import { counter, inside, main, pid, runtimeError, up } from "./program.ts"
import type { Program } from "./program.ts"

/** Programs about registries. */
export const registries: ReadonlyArray<Program> = [
  {
    law: "a unique key has one process, which alone changes its value; a duplicate one has many",
    given: {
      procs: { a: { script: [["reg_register", "u", "k", 1], ["reg_register", "d", "k", 1], ["wait_forever"]] } }
    },
    when: [
      ["start_registry", "u", "unique"],
      ["start_registry", "d", "duplicate"],
      ["spawn", "a"],
      ["sleep", 5],
      ["reg_register", "u", "k", 2],
      ["reg_update", "u", "k", 3],
      ["reg_register", "u", "own", 4],
      ["reg_register", "u", "own", 4],
      ["reg_update", "u", "own", 5],
      ["reg_register", "d", "k", 2],
      ["reg_register", "d", "k", 3],
      ["reg_lookup", "d", "k"],
      ["reg_keys", "d", "main"],
      ["reg_count", "d"],
      ["reg_dispatch", "d", "k", "news"],
      ["flush"],
      ["reg_unregister", "d", "k"],
      ["reg_lookup", "d", "k"]
    ],
    observed: {
      obs: {
        a: [
          ["reg_register", ["ok", "registry"]],
          ["reg_register", ["ok", "registry"]]
        ],
        ...main(
          ["reg_register", ["error", ["already_registered", pid("a")]]],
          ["reg_update", "error"],
          ["reg_register", ["ok", "registry"]],
          ["reg_register", ["error", ["already_registered", pid("main")]]],
          ["reg_update", [5, 4]],
          ["reg_register", ["ok", "registry"]],
          ["reg_register", ["ok", "registry"]],
          [
            "reg_lookup",
            "k",
            [
              [pid("a"), 1],
              [pid("main"), 2],
              [pid("main"), 3]
            ]
          ],
          ["reg_keys", "main", ["k", "k"]],
          ["reg_count", 3],
          ["reg_dispatch", "ok"],
          ["flushed", ["news", "news"]],
          ["reg_unregister", "ok"],
          ["reg_lookup", "k", [[pid("a"), 1]]]
        )
      },
      alive: ["a", "d", "u"]
    }
  },
  {
    law: "a server under a key is called and cast by it, and nobody else is started there",
    given: {
      servers: { s: { ...counter, via: ["r", "k"], cast: { n: { do: [["add", 10]] } } }, t: { via: ["r", "k"] } }
    },
    when: [
      ["start_registry", "r", "unique"],
      ["start", "s"],
      ["via_cast", "r", "k", "n"],
      ["via_call", "r", "k", "inc"],
      ["start", "t"],
      ["via_cast", "r", "nobody", "n"],
      ["catch", ["via_call", "r", "nobody", "inc"]]
    ],
    observed: {
      obs: main(
        up("s"),
        ["cast", "ok"],
        ["reply", 11],
        ["start", "t", ["error", ["already_started", pid("s")]]],
        ["cast", "ok"],
        ["caught", "exit", ["noproc", inside("GenServer.call")]]
      ),
      alive: ["r", "s"],
      trace: [["s", "init"]]
    }
  },
  {
    law: "a function that fails ends its agent and the caller's link; one that is slow still takes effect",
    given: {
      procs: {
        a: {
          script: [
            ["agent_start", "x", 1],
            ["agent_update_raise", "x"]
          ]
        }
      }
    },
    when: [
      ["spawn", "a"],
      ["await_death", "a"],
      ["agent_start", "y", 1],
      ["catch", ["agent_update_sleep", "y", 50, 10]],
      ["agent_get", "y"]
    ],
    observed: {
      obs: {
        a: [["agent_start", ["ok", pid("x")]]],
        ...main(
          ["agent_start", ["ok", pid("y")]],
          ["caught", "exit", ["timeout", inside("GenServer.call")]],
          ["agent_get", 2]
        )
      },
      exits: { a: runtimeError("boom"), x: runtimeError("boom") },
      alive: ["y"]
    }
  }
]
