import { stripVTControlCharacters } from "node:util"
import type { Observation } from "@troupe/chat/observe"
import { describe, expect, test } from "vitest"
import { chosenRow, rowsOf } from "../../src/observe/observedRows.ts"
import { observerLines, type ObserverScene, stateText } from "../../src/observe/observerView.ts"
import { paintFor, plainPaint } from "../../src/output/paint.ts"
import { timelineBars } from "../../src/observe/timelineBars.ts"

const node = (
  id: number,
  label: string,
  children: ReadonlyArray<Observation.ProcessNode> = [],
  more: Partial<Observation.ProcessNode> = {}
): Observation.ProcessNode => ({
  id: `<0.${id}.0>`,
  label,
  kind: "server",
  status: "idle",
  queueLength: 0,
  memory: 1_234,
  children,
  ...more
})

const tree = [
  node(1, "Troupe", [
    node(2, "Store", [], { queueLength: 3, status: "busy" }),
    node(3, "ChatSupervisor", [node(4, "Chat c1", [], { chat: "c1" }), node(5, "Chat c2")], { restarts: 2, hidden: 40 })
  ]),
  node(6, "Zombie slow, 20 ms")
]

const observed: Observation.Observed = {
  at: 1_000,
  processes: 46,
  tree,
  zombies: 1,
  crashes: 2,
  restarts: 2,
  deadLetters: 0
}

const scene = (more: Partial<ObserverScene> = {}): ObserverScene => ({
  url: "http://127.0.0.1:1",
  nodes: [],
  node: undefined,
  observed,
  rows: rowsOf(tree),
  chosen: 0,
  detail: undefined,
  timeline: undefined,
  notice: undefined,
  ...more
})

const detail: Observation.ProcessDetail = {
  id: "<0.4.0>",
  label: "Chat c1",
  kind: "machine",
  status: "idle",
  queueLength: 2,
  memory: 2_000,
  chat: "c1",
  alive: true,
  mailbox: ['{ type: "turn.start" }', "cast 1"],
  state: '{ value: "idle" }',
  links: ["<0.3.0>"],
  monitors: [],
  chart: { machine: "chat", value: { running: "phaseA" } },
  handled: 12,
  busyMs: 3.25,
  recent: [{ at: 1, event: "handled", detail: "handled x" }]
}

const span = (
  kind: Observation.Span["kind"],
  from: number,
  to: number | undefined,
  label = "slow"
): Observation.Span => ({
  id: `${kind}${from}`,
  kind,
  label,
  from,
  to,
  outcome: undefined
})

const timeline: Observation.Timeline = {
  chat: "c1",
  at: 1_000,
  spans: [
    span("turn", 0, 100, "before"),
    span("turn", 200, undefined, "Please go"),
    span("stream", 200, 400, "m1"),
    span("call", 400, undefined),
    span("zombie", 50, undefined)
  ]
}

describe("the screen", () => {
  test("shows the tree with its counts, queues and restarts, and marks the chosen process", () => {
    const lines = observerLines(scene({ chosen: 2 }), { rows: 12, columns: 100 }, plainPaint)
    expect(lines[0]).toBe(
      "Troupe http://127.0.0.1:1 · 46 processes · 2 crashes · 2 restarts · 1 zombies · 0 dead letters"
    )
    expect(lines.slice(1, 7).map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual([
      "  Troupe <0.1.0>  idle  1.2 kB",
      "  ├─ Store <0.2.0>  busy  3 queued  1.2 kB",
      "▸ └─ ChatSupervisor <0.3.0> … 40 more  idle  2 restarts  1.2 kB",
      "  ├─ Chat c1 <0.4.0>  idle  1.2 kB",
      "  └─ Chat c2 <0.5.0>  idle  1.2 kB",
      "  Zombie slow, 20 ms <0.6.0>  idle  1.2 kB"
    ])
    expect(lines.at(-1)).toContain("k kill")
  })

  test("has a line for each node of a cluster, and marks the observed one", () => {
    const nodes: ObserverScene["nodes"] = [
      { node: "10.0.0.1:7700", state: "alive", role: "home", buckets: 2_048, epoch: 7, chats: 3 },
      { node: "10.0.0.2:7700", state: "draining", role: "home", buckets: 12, epoch: 9, chats: 1 },
      { node: "10.0.0.3:7700\u001b[2J", state: "silent" }
    ]
    const lines = observerLines(scene({ nodes, node: "10.0.0.2:7700" }), { rows: 24, columns: 100 }, plainPaint)
    expect(lines.slice(1, 4)).toEqual([
      "  10.0.0.1:7700 alive, home, 2048 buckets, epoch 7, 3 chats",
      "● 10.0.0.2:7700 draining, home, 12 buckets, epoch 9, 1 chats",
      "  10.0.0.3:7700 silent"
    ])
    expect(lines.at(-1)).toContain("← → node")
    const alone = observerLines(scene({ nodes: nodes.slice(0, 1) }), { rows: 24, columns: 100 }, plainPaint)
    expect(alone.join()).not.toContain("10.0.0.1")
  })

  test("shows the observed one of more nodes than fit", () => {
    const nodes = Array.from({ length: 100 }, (_, at) => ({ node: `n${at}`, state: "alive" as const }))
    for (const { node: shown } of nodes) {
      const lines = observerLines(scene({ nodes, node: shown }), { rows: 24, columns: 100 }, plainPaint)
      expect(lines.filter((line) => line.startsWith("●"))).toEqual([`● ${shown} alive`])
    }
  })

  test("is never larger than the terminal, whatever its size", () => {
    const nodes = Array.from({ length: 9 }, (_, at) => ({ node: `n${at}`, state: "gone" as const }))
    for (let rows = 0; rows < 30; rows++) {
      for (const columns of [20, 40, 79, 200]) {
        const full = scene({ detail, timeline, chosen: 5, nodes, node: "n5" })
        const lines = observerLines(full, { rows, columns }, plainPaint)
        expect(lines.length).toBeLessThanOrEqual(rows)
        if (columns >= 79)
          expect(Math.max(0, ...lines.slice(1).map((line) => line.length))).toBeLessThanOrEqual(columns)
      }
    }
  })

  test("keeps the chosen process in sight", () => {
    const many = [
      node(
        1,
        "root",
        Array.from({ length: 200 }, (_, index) => node(index + 2, `c${index}`))
      )
    ]
    for (const chosen of [0, 1, 100, 199, 200]) {
      const lines = observerLines(scene({ rows: rowsOf(many), chosen }), { rows: 10, columns: 80 }, plainPaint)
      expect(lines.filter((line) => line.startsWith("▸"))).toHaveLength(1)
    }
  })

  test("shows the chosen process: its chart, state, mail and what it did last", () => {
    const lines = observerLines(scene({ detail, chosen: 3 }), { rows: 30, columns: 100 }, plainPaint)
    const text = lines.join("\n")
    expect(text).toContain("Chat c1 <0.4.0> machine · chat: running.phaseA · 12 handled, 3.3 ms")
    expect(text).toContain('mailbox   { type: "turn.start" } │ cast 1')
    expect(text).toContain("links     <0.3.0>")
    expect(text).toContain("handled   handled x")
    expect(text).not.toContain("monitors")
  })

  test("what a label holds steers no terminal", () => {
    const evil = [node(1, "Chat \u001b[2J\u0007c1\r\nx")]
    const lines = observerLines(
      scene({ rows: rowsOf(evil), detail: { ...detail, label: "\u001b]0;x\u0007", state: "a\u001b[31m" } }),
      { rows: 20, columns: 80 },
      plainPaint
    )
    expect(lines.join("")).toBe(stripVTControlCharacters(lines.join("")))
    expect(lines.every((line) => !/\p{Cc}/u.test(line))).toBe(true)
  })

  test("colours change nothing of what is said", () => {
    const colored = paintFor({ isTTY: true }, {})
    const size = { rows: 30, columns: 100 }
    const full = scene({ detail, timeline, chosen: 3 })
    expect(observerLines(full, size, colored).map((line) => stripVTControlCharacters(line))).toEqual(
      observerLines(full, size, plainPaint)
    )
  })

  test("a state in states is named by its path", () => {
    expect([stateText("idle"), stateText({ a: { b: "c" } }), stateText({ a: "x", b: {} })]).toEqual([
      "idle",
      "a.b.c",
      "a.x & b"
    ])
  })
})

describe("the timeline", () => {
  test("has a bar for each stretch of the newest turn, and for zombies of those before", () => {
    const bars = timelineBars(timeline, 100, 10, plainPaint)
    expect(bars.map((line) => line.slice(0, 26).trim())).toEqual([
      "turn Please go",
      "stream m1",
      "call slow",
      "zombie slow"
    ])
    const width = 100 - 26 - 11 - 2
    expect(bars.map((line) => line.slice(26, 26 + width))).toEqual([
      "━".repeat(61),
      "▓".repeat(15).padEnd(61),
      `${" ".repeat(15)}${"█".repeat(46)}`,
      "░".repeat(61)
    ])
    expect(bars.map((line) => line.slice(26 + width).trim())).toEqual(["…800 ms", "200 ms", "…600 ms", "…950 ms"])
  })

  test("shows the turn and the newest stretches where there are too many", () => {
    const spans = [
      span("turn", 0, 100, "go"),
      ...Array.from({ length: 50 }, (_, index) => span("call", index, index + 1))
    ]
    const bars = timelineBars({ ...timeline, spans }, 100, 5, plainPaint)
    expect(bars).toHaveLength(5)
    expect(bars[0]).toMatch(/^turn go/)
    expect(timelineBars({ ...timeline, spans: [] }, 100, 5, plainPaint)).toEqual(["no turn was seen yet"])
  })
})

describe("what is chosen", () => {
  test("stays chosen while it lives, and is followed to the process that took its place", () => {
    const rows = rowsOf(tree)
    const chosen = { id: "<0.4.0>", path: "/Troupe/ChatSupervisor/Chat c1" }
    expect(chosenRow(rows, chosen)).toBe(3)
    const again = rowsOf([node(1, "Troupe", [node(3, "ChatSupervisor", [node(5, "Chat c2"), node(9, "Chat c1")])])])
    expect(chosenRow(again, chosen)).toBe(3)
    expect(chosenRow(again, { id: "<0.8.0>", path: "/gone" })).toBe(0)
    expect(chosenRow([], chosen)).toBe(0)
  })

  test("is the nearest process above it, where nothing took its place", () => {
    const chosen = { id: "<0.9.0>", path: "/Troupe/ChatSupervisor/Chat c1/ToolBatch/ToolCall look" }
    expect(chosenRow(rowsOf(tree), chosen)).toBe(3)
  })
})
