/** The features of XState's charts that a host performs, against XState. */
import { Effect } from "effect"
import { expect, test } from "vitest"
import { type EventObject, setup } from "xstate"
import { StateMachine } from "../../../src/index.ts"
import { type Env, last, sameEverywhere } from "./bothHosts.ts"

const { assign, cancel, effect, fromCallback, fromEffect, hosted, raise, sendParent, sendTo, spawnChild, stopChild } =
  StateMachine

interface Counted {
  readonly n: number
}

type AnyEvent = EventObject & { readonly by?: number; readonly id?: string }

const log = effect<string, Env>((line, { env }) => env.log(line))

const base = setup({
  types: { context: {} as Counted, events: {} as AnyEvent, input: {} as Counted | undefined },
  guards: {
    below: ({ context }, { limit }: { readonly limit: number }) => context.n < limit,
    isBy: ({ event }, by: number) => event.by === by
  },
  actions: {
    log,
    add: assign(({ context, event }) => ({ n: context.n + (event.by ?? 1) })),
    plus: assign({ n: ({ context }, { much }: { readonly much: number }) => context.n + much })
  },
  delays: { short: 10, growing: ({ context }) => 10 * context.n }
})

const line = (params: string) => ({ type: "log", params }) as const

test("nested states are entered outermost first and left innermost first, around the transition's actions", async () => {
  const machine = hosted(
    base.createMachine({
      context: { n: 0 },
      entry: line("+root"),
      exit: line("-root"),
      initial: "a",
      states: {
        a: {
          entry: line("+a"),
          exit: line("-a"),
          initial: "a1",
          states: {
            a1: { entry: line("+a1"), exit: line("-a1"), on: { inner: { target: "a2", actions: line("inner") } } },
            a2: { entry: line("+a2"), exit: line("-a2") }
          },
          on: {
            out: { target: "b", actions: [line("out"), "add"] },
            again: { target: "a", reenter: true, actions: line("again") },
            stay: { target: ".a1", actions: line("stay") },
            none: { actions: line("none") }
          }
        },
        b: { entry: line("+b"), on: { end: "end" } },
        end: { type: "final", entry: line("+end") }
      }
    })
  )
  const acts = ["inner", "stay", "again", "none", "unknown", "out", "end"].map((type) => ({ type }))
  const seen = await sameEverywhere(machine, acts)
  expect(seen.map(({ log: lines }) => lines.join(" "))).toEqual([
    "+root +a +a1",
    "-a1 inner +a2",
    "-a2 stay +a1",
    "-a1 -a again +a +a1",
    "none",
    "",
    "-a1 -a out +b",
    "+end -root"
  ])
})

test("the first transition whose guard holds is taken, innermost first; guards have parameters", async () => {
  const machine = hosted(
    base.createMachine({
      context: ({ input }) => ({ n: input?.n ?? 0 }),
      initial: "low",
      states: {
        low: {
          on: {
            add: [
              { guard: { type: "below", params: { limit: 3 } }, actions: "add" },
              { guard: { type: "isBy", params: ({ context }) => context.n }, target: "high" }
            ]
          }
        },
        high: { always: { guard: { type: "below", params: { limit: 5 } }, actions: "add", target: "high" } }
      },
      on: { add: { actions: { type: "plus", params: ({ event }) => ({ much: 10 * (event.by ?? 1) }) } } }
    })
  )
  const add = (by: number) => ({ type: "add", by })
  const seen = await sameEverywhere(machine, [add(1), add(1), add(1), add(13)], { n: 1 })
  expect(last(seen)).toMatchObject({ value: "high", context: { n: 13 } })
})

test("delayed transitions wait for numbers, named and computed delays, and end with their state", async () => {
  const machine = hosted(
    base.createMachine({
      context: { n: 3 },
      initial: "a",
      states: {
        a: { after: { 5: { actions: "add" }, short: "b" }, on: { leave: "c", again: { target: "a", reenter: true } } },
        b: { after: { growing: "c", 100: { actions: line("late") } } },
        c: {}
      }
    })
  )
  const seen = await sameEverywhere(machine, [4, { type: "again" }, 4, 1, 4, 1, 39, 1, 200])
  expect(seen.map(({ value }) => value)).toEqual(["a", "a", "a", "a", "a", "a", "b", "b", "c", "c"])
  await sameEverywhere(machine, [9, { type: "leave" }, 50])
})

test("raised events come before others; delayed ones are cancelled by their id", async () => {
  const machine = hosted(
    setup({
      types: { context: {} as Counted, events: {} as AnyEvent },
      actions: {
        log,
        once: raise({ type: "inner" }),
        later: raise(({ context }) => ({ type: "later", by: context.n }), { id: "l", delay: 10 }),
        nameless: raise({ type: "tick" }, { delay: ({ context }) => context.n + 5 }),
        never: cancel("l")
      }
    }).createMachine({
      context: { n: 7 },
      on: {
        go: { actions: ["once", line("went")] },
        inner: { actions: line("inner") },
        wait: { actions: ["later", "nameless", "nameless"] },
        twice: { actions: ["later", "later", "never"] },
        stop: { actions: "never" },
        later: { actions: { type: "log", params: ({ event }) => `later ${event.by}` } },
        tick: { actions: line("tick") }
      }
    })
  )
  const seen = await sameEverywhere(machine, [
    { type: "go" },
    { type: "wait" },
    10,
    2,
    { type: "wait" },
    { type: "stop" },
    50,
    { type: "twice" },
    50
  ])
  expect(seen.flatMap(({ log: lines }) => lines)).toEqual([
    "went",
    "inner",
    "later 7",
    "tick",
    "tick",
    "tick",
    "tick",
    "later 7"
  ])
})

const echo = fromCallback<{ readonly of: number }, Env>(({ input, env, send }) => {
  env.log(`open ${input.of}`)
  return {
    receive: (event) => {
      env.log(`got ${event.type}`)
      send({ type: "answer" })
    },
    close: () => env.log(`close ${input.of}`)
  }
})

test("an invoked callback gets its input and events, sends, and is closed when its state is left", async () => {
  const machine = hosted(
    setup({
      types: { context: {} as Counted, events: {} as AnyEvent },
      actors: { echo },
      actions: { log, ask: sendTo("e", ({ context }) => ({ type: `ask${context.n}` })) }
    }).createMachine({
      context: { n: 4 },
      initial: "on",
      states: {
        on: {
          invoke: { id: "e", src: "echo", input: ({ context }) => ({ of: context.n }) },
          on: { ask: { actions: "ask" }, answer: { actions: line("answered") }, off: "off" }
        },
        off: { on: { on: "on" } }
      }
    })
  )
  const seen = await sameEverywhere(
    machine,
    ["ask", "off", "ask", "on"].map((type) => ({ type }))
  )
  expect(seen.map(({ log: lines }) => lines.join())).toEqual(["open 4", "got ask4,answered", "close 4", "", "open 4"])
})

test("an effect ends as done or error, at once or later", async () => {
  const machine = hosted(
    setup({
      types: { context: {} as { readonly got: unknown }, events: {} as AnyEvent },
      actors: {
        now: fromEffect(() => Effect.succeed("now")),
        later: fromEffect(() => Effect.promise(() => Promise.resolve("later"))),
        fails: fromEffect<string, string>(() => Effect.fail("broken"))
      },
      actions: {
        put: assign((_, { got }: { readonly got: unknown }) => ({ got }))
      }
    }).createMachine({
      context: { got: "nothing" },
      initial: "a",
      states: {
        a: {
          invoke: {
            src: "now",
            onDone: { target: "b", actions: { type: "put", params: ({ event }) => ({ got: event.output }) } }
          }
        },
        b: { on: { go: "c" } },
        c: {
          invoke: {
            src: "later",
            onDone: { target: "d", actions: { type: "put", params: ({ event }) => ({ got: event.output }) } }
          }
        },
        d: {
          invoke: {
            src: "fails",
            onError: { target: "e", actions: { type: "put", params: ({ event }) => ({ got: event.error }) } }
          }
        },
        e: {}
      }
    })
  )
  const seen = await sameEverywhere(machine, [{ type: "go" }])
  expect(seen.map(({ value, context }) => [value, context])).toEqual([
    ["b", { got: "now" }],
    ["e", { got: "broken" }]
  ])
})

const counter = (options: { readonly inside?: boolean }) =>
  hosted(
    setup({
      types: { context: {} as Counted, events: {} as AnyEvent, input: {} as Counted, output: {} as Counted },
      actions: {
        log,
        add: assign(({ context }) => ({ n: context.n + 1 })),
        report: sendParent(({ context }) => ({ type: "report", by: context.n }))
      },
      guards: {
        broken: () => {
          throw new Error("no guard")
        }
      }
    }).createMachine({
      context: ({ input }) => ({ n: input.n }),
      initial: "counting",
      entry: line("child"),
      states: {
        counting: {
          on: {
            add: { actions: ["add", "report"] },
            end: { target: "ended", actions: "report" },
            fail: { guard: "broken" }
          },
          after: { 100: "ended" }
        },
        ended: { type: "final" }
      },
      output: ({ context }) => ({ n: context.n * 10 })
    }),
    options
  )

const parentOf = (child: ReturnType<typeof counter>) =>
  hosted(
    setup({
      types: { context: {} as { readonly got: unknown; readonly reports: number }, events: {} as AnyEvent },
      actors: { child },
      actions: {
        log,
        put: assign((_, { got }: { readonly got: unknown }) => ({ got })),
        count: assign(({ context }) => ({ reports: context.reports + 1 })),
        add: sendTo("c", { type: "add" }),
        end: sendTo("c", { type: "end" }),
        fail: sendTo("c", { type: "fail" })
      }
    }).createMachine({
      context: { got: "", reports: 0 },
      initial: "busy",
      states: {
        busy: {
          invoke: {
            id: "c",
            src: "child",
            input: { n: 5 },
            onDone: { target: "done", actions: { type: "put", params: ({ event }) => ({ got: event.output }) } },
            onError: {
              target: "failed",
              actions: { type: "put", params: ({ event }) => ({ got: (event.error as Error).message }) }
            }
          },
          on: { add: { actions: "add" }, end: { actions: "end" }, fail: { actions: "fail" }, leave: "left" }
        },
        done: {},
        failed: {},
        left: {}
      },
      on: { report: { actions: "count" } }
    })
  )

test.each([{ inside: false }, { inside: true }])(
  "a child machine gets input and events, reports, and ends as done or error (inside its parent: $inside)",
  async (options) => {
    const machine = parentOf(counter(options))
    const done = last(
      await sameEverywhere(
        machine,
        ["add", "add", "end", "add"].map((type) => ({ type }))
      )
    )
    expect(done).toMatchObject({ value: "done", context: { got: { n: 70 }, reports: 3 } })
    const failed = last(await sameEverywhere(machine, [{ type: "fail" }]))
    expect(failed).toMatchObject({ value: "failed" })
    expect(last(await sameEverywhere(machine, [60, { type: "add" }, 40]))).toMatchObject({ value: "done" })
    expect(last(await sameEverywhere(machine, [{ type: "leave" }, 200]))).toMatchObject({ value: "left" })
  }
)

test("an error of a child that no transition handles is the error of the machine", async () => {
  const machine = hosted(
    setup({
      types: { events: {} as AnyEvent },
      actors: { child: counter({}) },
      actions: { fail: sendTo("c", { type: "fail" }) }
    }).createMachine({
      invoke: { id: "c", src: "child", input: { n: 1 } },
      on: { go: { actions: "fail" } }
    })
  )
  expect(last(await sameEverywhere(machine, [{ type: "go" }]))).toMatchObject({ status: "error" })
})

test.each([{ inside: false }, { inside: true }])(
  "children are spawned by events, with ids and inputs from the event, and stopped by id (inside: $inside)",
  async (options) => {
    const machine = hosted(
      setup({
        types: { context: {} as Counted, events: {} as AnyEvent },
        actors: { echo, child: counter(options) },
        actions: {
          log,
          open: spawnChild("echo", {
            id: ({ event }) => event.id ?? "",
            input: ({ event }) => ({ of: event.by ?? 0 })
          }),
          child: spawnChild("child", { id: "m", input: ({ context }) => ({ n: context.n }) }),
          shut: stopChild(({ event }) => event.id ?? ""),
          end: sendTo("m", { type: "end" })
        }
      }).createMachine({
        context: { n: 2 },
        on: {
          open: { actions: "open" },
          shut: { actions: "shut" },
          child: { actions: "child" },
          end: { actions: "end" },
          report: { actions: line("reported") },
          "xstate.done.actor.m": { actions: line("done") }
        }
      })
    )
    const seen = await sameEverywhere(machine, [
      { type: "open", id: "x", by: 1 },
      { type: "open", id: "y", by: 2 },
      { type: "shut", id: "x" },
      { type: "shut", id: "x" },
      { type: "child" },
      { type: "end" },
      { type: "shut", id: "m" }
    ])
    expect(seen.flatMap(({ log: lines }) => lines)).toEqual([
      "open 1",
      "open 2",
      "close 1",
      "child",
      "reported",
      "done"
    ])
  }
)

test("final states of inner states raise done events, and the machine's output sees the last one", async () => {
  const machine = hosted(
    setup({
      types: { context: {} as Counted, events: {} as AnyEvent, output: {} as { readonly event: unknown } },
      actions: { log, add: assign(({ context }) => ({ n: context.n + 1 })) }
    }).createMachine({
      context: { n: 0 },
      initial: "work",
      exit: line("over"),
      states: {
        work: {
          initial: "first",
          states: { first: { on: { go: "second" } }, second: { type: "final", output: ({ context }) => context.n } },
          onDone: { target: "end", actions: ["add", { type: "log", params: ({ event }) => `done ${event.output}` }] }
        },
        end: { type: "final", output: ({ context }) => ({ n: context.n }) }
      },
      output: ({ event, context }) => ({ event: event.output, context: { ...context } })
    })
  )
  expect(last(await sameEverywhere(machine, [{ type: "go" }]))).toMatchObject({
    status: "done",
    output: { event: { n: 1 }, context: { n: 1 } },
    log: ["done 0", "over"]
  })
})

test.each(["guard", "assign", "params", "action", "effect", "input", "callback", "context"])(
  "an error thrown by a machine's %s is the machine's error",
  async (where) => {
    const broken = (): never => {
      throw new Error(`broken ${where}`)
    }
    const machine = hosted(
      setup({
        types: { context: {} as Counted, events: {} as AnyEvent, input: {} as Counted | undefined },
        actors: { callback: fromCallback<unknown, Env>(broken), quiet: fromCallback<unknown>(() => {}) },
        guards: { guard: broken },
        actions: {
          log,
          assign: assign(broken),
          params: assign((_args, { much }: { readonly much: number }) => ({ n: much })),
          action: broken,
          effect: effect(broken),
          input: spawnChild("quiet", { id: "i", input: broken }),
          callback: spawnChild("callback", { id: "c" })
        }
      }).createMachine({
        context: () => (where === "context" ? broken() : { n: 0 }),
        on: {
          guard: { guard: "guard" },
          assign: { actions: ["assign", line("unreached")] },
          params: { actions: { type: "params", params: broken } },
          action: { actions: ["action", line("unreached")] },
          effect: { actions: ["effect", line("unreached")] },
          input: { actions: "input" },
          callback: { actions: "callback" }
        }
      })
    )
    const end = last(await sameEverywhere(machine, [{ type: where }]))
    expect(end).toMatchObject({ status: "error", log: [] })
    expect(end.error).toContain(`broken ${where}`)
  }
)
