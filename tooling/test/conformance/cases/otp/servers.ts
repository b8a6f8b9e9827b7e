import { exited, inside, main, pid, runtimeError, up } from "./program.ts"
import type { Program } from "./program.ts"

/** Programs about servers. */
export const servers: ReadonlyArray<Program> = [
  {
    law: "an init may ignore, exit, return garbage, throw a return, or take too long",
    given: {
      servers: {
        a: { init: "ignore" },
        b: { init: ["exit", "gone"] },
        c: { init: ["bad", "garbage"] },
        d: { init: ["throw", ["stop", "thrown"]] },
        e: { init_do: [["sleep", 100]] },
        f: { name: "taken" },
        g: { name: "taken" }
      }
    },
    when: [
      ["start", "a"],
      ["start", "b"],
      ["start", "c"],
      ["start", "d"],
      ["start_timeout", "e", 20],
      ["start", "f"],
      ["start", "g"]
    ],
    observed: {
      obs: main(
        ["start", "a", "ignore"],
        ["start", "b", ["error", "gone"]],
        ["start", "c", ["error", ["bad_return_value", "garbage"]]],
        ["start", "d", ["error", "thrown"]],
        ["start", "e", ["error", "timeout"]],
        up("f"),
        ["start", "g", ["error", ["already_started", pid("f")]]]
      ),
      exits: { a: "normal", b: "gone", c: ["bad_return_value", "garbage"], d: "thrown", e: "killed" },
      alive: ["f"],
      trace: ["a", "b", "c", "d", "e", "f"].map((label) => [label, "init"])
    }
  },
  {
    law: "a continuation runs before mail that came during init",
    given: {
      servers: {
        s: {
          init: ["ok", "continue", "c"],
          init_do: [["cast", "s", "early"]],
          cast: { early: { do: [["note_msg"]] } }
        }
      }
    },
    when: [
      ["start", "s"],
      ["sleep", 5]
    ],
    observed: {
      obs: { s: [["cast", "ok"]], ...main(up("s")) },
      alive: ["s"],
      trace: [
        ["s", "init"],
        ["s", "continue", "c"],
        ["s", "note", "early"]
      ]
    }
  },
  {
    law: "a stop with a reply answers after terminate; a later call finds nobody, and one to oneself fails",
    given: {
      procs: { q: { script: [["catch", ["call", "s", "ping"]]] } },
      servers: {
        s: {
          call: { bye: { do: [["sleep", 10]], return: ["stop", "done", "farewell"] } },
          cast: { self: { do: [["call", "s", "ping"]] } },
          terminate_do: [
            ["sleep", 10],
            ["note", "ended"]
          ]
        }
      }
    },
    when: [
      ["start", "s"],
      ["timed", ["call", "s", "bye"], 20, 20],
      ["spawn", "q"],
      ["await_death", "q"],
      ["start", "s"],
      ["cast", "s", "self"],
      ["await_death", "s"]
    ],
    observed: {
      obs: {
        q: [["caught", "exit", ["noproc", inside("GenServer.call")]]],
        ...main(
          up("s"),
          ["reply", "farewell"],
          ["elapsed_within", 20, 20, true],
          ["start", "s", ["ok", pid("s#2")]],
          ["cast", "ok"]
        )
      },
      exits: { q: "normal", s: "done", "s#2": ["calling_self", inside("GenServer.call")] },
      trace: [
        ["s", "init"],
        ["s", "terminate", "done"],
        ["s", "note", "ended"],
        ["s#2", "init"],
        ["s#2", "terminate", ["calling_self", inside("GenServer.call")]],
        ["s#2", "note", "ended"]
      ]
    }
  },
  {
    law: "a bad return, a thrown return and a failing terminate give the reasons they should",
    given: {
      main: { trap_exit: true },
      servers: {
        a: { cast: { x: { return: ["bad", "junk"] } } },
        b: { call: { x: { return: ["throw", ["reply", "thrown", "_"]] } } },
        c: { terminate_do: [["raise", "late"]] },
        d: { terminate_do: [["sleep", 50]] }
      }
    },
    when: [
      ["start", "a"],
      ["cast", "a", "x"],
      ["await_death", "a"],
      ["start", "b"],
      ["call", "b", "x"],
      ["start", "c"],
      ["catch", ["stop", "c"]],
      ["catch", ["stop", "c"]],
      ["start_link", "d"],
      ["catch", ["stop", "d", "odd", 20]],
      ["receive", "_", 100]
    ],
    observed: {
      obs: main(
        up("a"),
        ["cast", "ok"],
        up("b"),
        ["reply", "thrown"],
        up("c"),
        ["caught", "exit", [runtimeError("late"), inside("GenServer.stop")]],
        ["caught", "exit", ["noproc", inside("GenServer.stop")]],
        up("d"),
        ["caught", "exit", ["timeout", inside("GenServer.stop")]],
        ["received", exited("d", "odd")]
      ),
      exits: { a: ["bad_return_value", "junk"], c: runtimeError("late"), d: "odd" },
      alive: ["b"],
      trace: [
        ["a", "init"],
        ["a", "terminate", ["bad_return_value", "junk"]],
        ["b", "init"],
        ["c", "init"],
        ["c", "terminate", "normal"],
        ["d", "init"],
        ["d", "terminate", "odd"]
      ]
    }
  }
]
