import { counter, exited, inside, main, pid, reported, up } from "./program.ts"
import type { Program } from "./program.ts"

/** Programs about supervisors. */
export const supervisors: ReadonlyArray<Program> = [
  {
    law: "a child that does not start stops those before it, in reverse order",
    given: {
      main: { trap_exit: true },
      servers: { a: reported, b: reported, c: { init: ["stop", "nope"] } },
      sups: { sup: { children: [{ id: "a" }, { id: "b" }, { id: "c" }] } }
    },
    when: [
      ["start_sup", "sup"],
      ["receive", "_", 10]
    ],
    observed: {
      obs: main(
        ["start", "sup", ["error", ["shutdown", ["failed_to_start_child", "c", "nope"]]]],
        ["received", exited("sup", ["shutdown", ["failed_to_start_child", "c", "nope"]])]
      ),
      exits: {
        a: "shutdown",
        b: "shutdown",
        c: "nope",
        sup: ["shutdown", ["failed_to_start_child", "c", "nope"]]
      },
      trace: [
        ["a", "init"],
        ["b", "init"],
        ["c", "init"],
        ["b", "terminate", "shutdown"],
        ["a", "terminate", "shutdown"]
      ]
    }
  },
  {
    law: "a child added later that fails is reported with its spec; a running one cannot be restarted",
    given: { servers: { a: { init: ["stop", "nope"] }, b: {} }, sups: { sup: { children: [{ id: "b" }] } } },
    when: [
      ["start_sup", "sup"],
      ["start_child", "sup", { id: "a" }],
      ["restart_child", "sup", "b"],
      ["start_child", "sup", { id: "c", start: "b", significant: true, restart: "transient" }],
      ["count_children", "sup"]
    ],
    observed: {
      obs: main(
        up("sup"),
        ["start_child", ["error", ["nope", "_child_spec"]]],
        ["restart_child", "b", ["error", "running"]],
        [
          "start_child",
          [
            "error",
            [
              "bad_combination",
              [
                ["auto_shutdown", "never"],
                ["significant", true]
              ]
            ]
          ]
        ],
        ["count_children", { specs: 1, active: 1, supervisors: 0, workers: 1 }]
      ),
      exits: { a: "nope" },
      alive: ["b", "sup"],
      trace: [
        ["b", "init"],
        ["a", "init"]
      ]
    }
  },
  {
    law: "when a start in a group restart fails, the group is ended and started again",
    given: {
      servers: { a: reported, b: { ...reported, init: { attempts: ["ok", ["stop", "nope"], "ok"] } } },
      sups: { sup: { strategy: "one_for_all", children: [{ id: "a" }, { id: "b" }] } }
    },
    when: [
      ["start_sup", "sup"],
      ["cast", "a", "boom"],
      ["await_incarnation", "b", 3],
      ["sleep", 5]
    ],
    observed: {
      obs: main(up("sup"), ["cast", "ok"]),
      exits: { a: "boom", "a#2": "shutdown", b: "shutdown", "b#2": "nope" },
      alive: ["a#3", "b#3", "sup"],
      trace: [
        ["a", "init"],
        ["b", "init"],
        ["a", "terminate", "boom"],
        ["b", "terminate", "shutdown"],
        ["a#2", "init"],
        ["b#2", "init"],
        ["a#2", "terminate", "shutdown"],
        ["a#3", "init"],
        ["b#3", "init"]
      ]
    }
  },
  {
    law: "a significant child must not be permanent",
    given: {
      main: { trap_exit: true },
      servers: { a: reported },
      sups: { sup: { auto_shutdown: "any_significant", children: [{ id: "a", significant: true }] } }
    },
    when: [["start_sup", "sup"]],
    observed: {
      obs: main([
        "start",
        "sup",
        [
          "error",
          [
            "start_spec",
            [
              "bad_combination",
              [
                ["restart", "permanent"],
                ["significant", true]
              ]
            ]
          ]
        ]
      ]),
      exits: {
        sup: [
          "start_spec",
          [
            "bad_combination",
            [
              ["restart", "permanent"],
              ["significant", true]
            ]
          ]
        ]
      }
    }
  },
  {
    law: "a dynamic supervisor ends a child once, takes so many, and keeps none that does not run",
    given: {
      servers: { a: reported, b: { init: "ignore" }, c: { init: ["stop", "nope"] } },
      sups: { d: { max_children: 1 } }
    },
    when: [
      ["start_dynsup", "d"],
      ["dyn_start_child", "d", { id: "b" }],
      ["dyn_start_child", "d", { id: "c" }],
      ["dyn_start_child", "d", { id: "a" }],
      ["dyn_start_child", "d", { id: "a" }],
      ["dyn_terminate_child", "d", "a"],
      ["dyn_terminate_child", "d", "a"]
    ],
    observed: {
      obs: main(
        up("d"),
        ["start_child", "ignore"],
        ["start_child", ["error", "nope"]],
        ["start_child", ["ok", pid("a")]],
        ["start_child", ["error", "max_children"]],
        ["terminate_child", "a", "ok"],
        ["terminate_child", "a", ["error", "not_found"]]
      ),
      exits: { a: "shutdown", b: "normal", c: "nope" },
      alive: ["d"],
      trace: [
        ["b", "init"],
        ["c", "init"],
        ["a", "init"],
        ["a", "terminate", "shutdown"]
      ]
    }
  },
  {
    law: "equal keys lead to one partition; one that crashed comes back in its place",
    given: {
      servers: { w: { call: { ...counter.call, boom: { do: [["exit", "boom"]] } } } }
    },
    when: [
      ["start_psup", "ps", 2, "w"],
      ["psup_call", "ps", 1, "inc"],
      ["psup_call", "ps", 0, "inc"],
      ["catch", ["psup_call", "ps", 3, "boom"]],
      ["await_incarnation", "w", 3],
      ["sleep", 5],
      ["psup_call", "ps", 1, "who"],
      ["psup_call", "ps", 1, "inc"],
      ["psup_call", "ps", 0, "inc"],
      ["psup_which", "ps"]
    ],
    observed: {
      obs: main(
        ["start_psup", ["ok", pid("ps")]],
        ["reply", 1],
        ["reply", 1],
        ["caught", "exit", ["boom", inside("GenServer.call")]],
        ["reply", pid("w#3")],
        ["reply", 1],
        ["reply", 2],
        [
          "which_children",
          [
            [0, pid("w"), "worker"],
            [1, pid("w#3"), "worker"]
          ]
        ]
      ),
      exits: { "w#2": "boom" },
      alive: ["ps", "w", "w#3"],
      trace: [
        ["w", "init"],
        ["w#2", "init"],
        ["w#2", "terminate", "boom"],
        ["w#3", "init"]
      ]
    }
  }
]
