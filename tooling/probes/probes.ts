/**
 * The probes: the behaviour of a framework under failures, the same for every framework.
 *
 * Each probe runs on a real clock, reads the framework's events, waits for late effects after the end, and lists the
 * faults.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises"
import { crowdOf } from "./crowd.ts"
import { ahead, allReleased, ended, is, lateReported, nothingLate, outcomes, within } from "./expected.ts"
import { read } from "./observe.ts"
import type { Probe } from "./probe.ts"
import { call, calls, says, words } from "./scriptedModel.ts"
import { turn } from "./turn.ts"

const twoCalls = calls(call("a", "first"), call("b", "second"))
const done = says("done")

export const probes: ReadonlyArray<Probe> = [
  {
    id: "throws",
    title: "two tools, one throws",
    run: turn({ replies: [twoCalls, done], tools: (box) => [box.throws("first", 50), box.aware("second", 300)] }),
    faults: (seen) => [
      ...outcomes(seen, { a: "failed", b: "completed" }),
      ...ended(seen, "completed"),
      ...within(seen, 450),
      ...allReleased(seen)
    ]
  },
  {
    id: "fatal",
    title: "the throw made fatal, the sibling deaf",
    run: turn({
      replies: [twoCalls, done],
      tools: (box) => [box.throws("first", 50), box.deaf("second", 300)],
      setup: { fatal: true }
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "failed", b: "completed" }),
      ...ended(seen, "tool_error"),
      ...within(seen, 450),
      ...nothingLate(seen)
    ]
  },
  {
    id: "fatal-never",
    title: "the throw made fatal, the sibling never ends",
    run: turn({
      replies: [twoCalls, done],
      tools: (box) => [box.throws("first", 50), box.never("second")],
      setup: { fatal: true, toolTimeoutMs: 500 }
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "failed", b: "timed_out" }),
      ...ended(seen, "tool_error"),
      ...within(seen, 700)
    ]
  },
  {
    id: "abort",
    title: "cancel at 150 ms, an aware and a deaf tool of 1,400 ms",
    run: turn({
      replies: [twoCalls, done],
      tools: (box) => [box.aware("first", 1_400), box.deaf("second", 1_400)],
      cancelAfterMs: 150,
      settleMs: 700
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "cancelled", b: "abandoned" }),
      ...ended(seen, "cancelled"),
      ...within(seen, 1_350),
      ...lateReported(seen, 1)
    ]
  },
  {
    id: "never",
    title: "a tool never ends, nothing configured",
    run: turn({
      replies: [twoCalls, done],
      tools: (box) => [box.never("first"), box.aware("second", 50)],
      cutMs: 35_000
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "timed_out", b: "completed" }),
      ...ended(seen, "completed"),
      ...within(seen, 31_000)
    ]
  },
  {
    id: "timeout",
    title: "a tool never ends, a deadline of 200 ms",
    run: turn({
      replies: [twoCalls, done],
      tools: (box) => [box.never("first"), box.aware("second", 50)],
      setup: { toolTimeoutMs: 200 }
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "timed_out", b: "completed" }),
      ...ended(seen, "completed"),
      ...within(seen, 350)
    ]
  },
  {
    id: "late",
    title: "a deaf tool ends 300 ms after its deadline",
    run: turn({
      replies: [calls(call("a", "first")), done],
      tools: (box) => [box.deaf("first", 500)],
      setup: { toolTimeoutMs: 200 },
      settleMs: 450
    }),
    faults: (seen) => [...outcomes(seen, { a: "timed_out" }), ...ended(seen, "completed"), ...lateReported(seen, 1)]
  },
  {
    id: "order",
    title: "three tools of 300, 100, 200 ms",
    run: turn({
      replies: [calls(call("a", "x300"), call("b", "x100"), call("c", "x200")), done],
      tools: (box) => [box.aware("x300", 300), box.aware("x100", 100), box.aware("x200", 200)]
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "completed", b: "completed", c: "completed" }),
      ...is(
        seen.events.filter((event) => event.includes(":")).join() === "b:completed,c:completed,a:completed",
        "results were not heard as they came"
      ),
      ...within(seen, 450)
    ]
  },
  {
    id: "length",
    title: "the reply ends with `length`, in the middle of calls",
    run: turn({
      replies: [
        [call("a", "counts", '{"n":1}'), call("b", "counts", '{"n":'), { type: "finish", reason: "length" }],
        done
      ],
      tools: (box) => [box.counts("counts")],
      afterwards: async (_conversation, _transcript, ledger) => `${ledger.effects.length} effects`
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "not_started", b: "not_started" }),
      ...is(seen.note === "0 effects", `${seen.note ?? ""}, none may be`),
      ...allReleased(seen)
    ]
  },
  {
    id: "leaves",
    title: "the reader leaves after three of 1,000 words",
    run: turn({
      replies: [words(1_000)],
      tools: () => [],
      countsAhead: true,
      onReceived: (_, { texts }) => (texts === 3 ? "leave" : undefined)
    }),
    faults: (seen, { leaving }) => [...allReleased(seen), ...ahead(seen, leaving)]
  },
  {
    id: "leaves-tools",
    title: "the reader leaves while tools run",
    run: turn({
      replies: [[{ type: "text", text: "so" }, ...calls(call("a", "first"), call("b", "second"))], done],
      tools: (box) => [box.aware("first", 30), box.aware("second", 400)],
      onReceived: ({ type }) => (type === "outcome" ? "leave" : undefined),
      settleMs: 600,
      afterwards: async (_conversation, _transcript, ledger) =>
        `${ledger.effects.length} effects, ${ledger.signalled} aborted`
    }),
    faults: (seen, { leaving }) => [
      ...allReleased(seen),
      ...(leaving === "detaches"
        ? is(seen.opened === 2, "the turn did not go on without its reader")
        : [
            ...is(seen.note === "1 effects, 1 aborted", `${seen.note ?? ""}: the running tool was not cancelled`),
            ...is(seen.opened === 1, "the model was asked again for nobody")
          ])
    ]
  },
  {
    id: "idle",
    title: "five of 50,000 words read, then nothing",
    run: turn({ replies: [words(50_000)], tools: () => [], countsAhead: true, readsThenIdles: 5 }),
    faults: (seen, { leaving }) => [...ahead(seen, leaving), ...allReleased(seen)]
  },
  {
    id: "unknown",
    title: "an unknown tool beside a good one",
    run: turn({
      replies: [calls(call("a", "nonsense"), call("b", "second")), done],
      tools: (box) => [box.aware("second", 50)]
    }),
    faults: (seen) => [...outcomes(seen, { a: "not_found", b: "completed" }), ...ended(seen, "completed")]
  },
  {
    id: "arguments",
    title: "arguments wrong, of the wrong type, truncated, right",
    run: turn({
      replies: [
        calls(
          call("a", "counts", "nonsense"),
          call("b", "counts", '{"n":"one"}'),
          call("c", "counts", '{"n": 1'),
          call("d", "counts", '{"n":1}')
        ),
        done
      ],
      tools: (box) => [box.counts("counts")],
      afterwards: async (_conversation, _transcript, ledger) =>
        `ran ${ledger.effects.map(({ callId }) => callId).join()}`
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "invalid", b: "invalid", c: "invalid", d: "completed" }),
      ...is(seen.note === "ran d", `${seen.note ?? ""}, only d may run`)
    ]
  },
  {
    id: "question",
    title: "a charge beside a question, answered",
    run: turn({
      replies: [calls(call("a", "charge"), call("b", "ask")), done],
      tools: (box) => [box.deaf("charge", 300, "write"), box.asks("ask", "Really?")],
      afterwards: async (conversation, transcript, ledger) => {
        await read(conversation.send("yes"), transcript, 5_000)
        return `charged ${ledger.effects.length} times`
      }
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "completed", b: "completed" }),
      ...is(seen.note === "charged 1 times", seen.note ?? "not answered"),
      ...ended(seen, "completed"),
      ...is(seen.events.includes("question"), "nobody was asked")
    ]
  },
  {
    id: "dies",
    title: "the program dies while a charge runs",
    durable: true,
    run: turn({
      replies: [calls(call("b", "second"), call("a", "charge")), done],
      tools: (box) => [box.deaf("charge", 300, "write"), box.aware("second", 20)],
      onReceived: ({ type }) => (type === "outcome" ? "leave" : undefined),
      afterwards: async (conversation, transcript, ledger) => {
        const next = await conversation.restart?.()
        if (next === undefined) return "nothing was kept"
        await conversation.close()
        await sleep(400)
        const asked = next.unknown().join()
        await read(next.decide("a", "charged, as the bank says"), transcript, 5_000)
        await next.close()
        return `asked about ${asked}, charged ${ledger.effects.filter(({ callId }) => callId === "a").length} times`
      }
    }),
    faults: (seen) => [
      ...outcomes(seen, { a: "completed", b: "completed" }),
      ...is(seen.note === "asked about a, charged 1 times", seen.note ?? "not asked"),
      ...ended(seen, "completed")
    ]
  },
  crowdOf(1_000)
]
