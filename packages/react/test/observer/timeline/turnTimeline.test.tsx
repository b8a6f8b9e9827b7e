// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { TurnTimeline } from "../../../src/index.ts"
import { observerDouble, spans } from "../../double/observerLinks.ts"
import { show } from "../screen.ts"

let draw: (at: number) => void = () => {}

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true)
  let asked = new Map<number, FrameRequestCallback>()
  let next = 0
  vi.stubGlobal("requestAnimationFrame", (run: FrameRequestCallback) => {
    asked.set(++next, run)
    return next
  })
  vi.stubGlobal("cancelAnimationFrame", (id: number) => void asked.delete(id))
  draw = (at) => {
    const due = asked
    asked = new Map()
    act(() => due.forEach((run) => run(at)))
  }
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const bars = () => [...document.querySelectorAll<HTMLElement>(".tro-bar")]
const bar = (name: string | RegExp) => screen.getByRole("button", { name })

test("each call has a row with its stretches, and its zombie goes on in it", async () => {
  await show(<TurnTimeline link={observerDouble().link} chat="trip-to-lisbon" />)
  const rows = [...document.querySelectorAll(".tro-track")].map((track) => [
    track.querySelector(".tro-track-name")?.textContent,
    ...[...track.querySelectorAll<HTMLElement>(".tro-bar")].map(({ dataset }) => dataset["kind"])
  ])
  expect(rows).toEqual([
    ["Turn", "turn"],
    ["claude-opus", "stream"],
    ["search_flights", "queue", "call"],
    ["weather", "queue", "call"],
    ["crawl", "queue", "call", "drain", "zombie"],
    ["claude-opus", "stream"]
  ])
})

test("a request that waits to be sent again has a bar for the wait in its row, which says so", async () => {
  const { link, timeline } = observerDouble()
  await show(<TurnTimeline link={link} chat="trip-to-lisbon" />)
  const span = (id: string, kind: "turn" | "stream" | "delay", from: number, to?: number, outcome?: string) => ({
    id,
    kind,
    label: "claude-opus",
    from,
    to,
    outcome
  })
  const request = [
    span("1", "turn", 0),
    span("1.1.stream", "stream", 0),
    span("1.1.delay.41000", "delay", 1_000, 41_000, "rate_limited"),
    span("1.1.delay.101000", "delay", 53_000)
  ]
  act(() => timeline.put({ chat: "trip-to-lisbon", at: 60_000, spans: request }))
  const [, row] = document.querySelectorAll(".tro-track")
  expect([...(row?.querySelectorAll<HTMLElement>(".tro-bar") ?? [])].map(({ dataset }) => dataset["kind"])).toEqual([
    "stream",
    "delay",
    "delay"
  ])
  expect(bar("claude-opus: waits before it is sent again, from 1.00 s, 40.0 s, rate limited")).toBeDefined()
  expect(bar("claude-opus: waits before it is sent again, from 53.0 s, 7.00 s, goes on")).toBeDefined()
})

test("the rows of a sub-agent follow the row of its call, are set in, and have its name before theirs", async () => {
  const { link, timeline } = observerDouble()
  await show(<TurnTimeline link={link} chat="trip-to-lisbon" />)
  const span = (id: string, kind: "turn" | "stream" | "call", label: string, from: number, under?: string) => ({
    id,
    kind,
    label,
    ...(under === undefined ? {} : { under }),
    from,
    to: from + 100,
    outcome: "completed"
  })
  const row = "1.10.0.call_1"
  const family = [
    span("1", "turn", "Go", 0),
    span("1.2.stream", "stream", "last", 90),
    span(`${row}.call.10`, "call", "research", 10),
    span(`${row}/1.1.stream`, "stream", "small", 20, row),
    span(`${row}/1.30.0.call_1.call.30`, "call", "weather", 30, row)
  ]
  act(() => timeline.put({ chat: "trip-to-lisbon", at: 13_000, spans: family }))
  const names = [...document.querySelectorAll<HTMLElement>(".tro-track-name")].map((name) => [
    name.textContent,
    name.style.paddingInlineStart
  ])
  expect(names).toEqual([
    ["Turn", ""],
    ["research", ""],
    ["small", "10px"],
    ["weather", "10px"],
    ["last", ""]
  ])
  expect(bar(/^research › weather: runs/)).toBeDefined()
})

test("a bar that goes on grows with each frame, from the last look on", async () => {
  const { link, timeline } = observerDouble()
  await show(<TurnTimeline link={link} chat="trip-to-lisbon" />)
  expect(bar(/^Turn/).getAttribute("aria-label")).toContain("8.00 s, goes on")
  draw(500)
  draw(1_700)
  expect(bar(/^Turn/).getAttribute("aria-label")).toContain("9.20 s, goes on")
  act(() => timeline.put({ chat: "trip-to-lisbon", at: 14_000, spans }))
  expect(bar(/^Turn/).getAttribute("aria-label")).toContain("10.0 s, goes on")
})

test("a turn that is over asks for no frame", async () => {
  const { link, timeline } = observerDouble()
  await show(<TurnTimeline link={link} chat="trip-to-lisbon" />)
  const asked = vi.fn<(run: FrameRequestCallback) => number>(() => 0)
  vi.stubGlobal("requestAnimationFrame", asked)
  act(() => timeline.put({ chat: "trip-to-lisbon", at: 13_000, spans: spans.slice(0, 2) }))
  expect(asked).not.toHaveBeenCalled()
})

test("a bar says what it is when it is pointed at, and arrow keys lead from bar to bar", async () => {
  await show(<TurnTimeline link={observerDouble().link} chat="trip-to-lisbon" />)
  act(() => bars()[0]?.focus())
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "ArrowRight" })
  expect(document.activeElement).toBe(bars()[1])
  expect(screen.getByRole("tooltip").textContent).toBe("claude-opus model request, from 20 ms, 1.28 s, tool calls")
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "Escape" })
  expect(screen.queryByRole("tooltip")).toBeNull()
  fireEvent.mouseEnter(bar(/^crawl: goes on though/))
  expect(screen.getByRole("tooltip").textContent).toContain("goes on though its call is over")
  expect(bars().filter(({ tabIndex }) => tabIndex === 0)).toHaveLength(1)
})

test("a table says the same", async () => {
  await show(<TurnTimeline link={observerDouble().link} chat="trip-to-lisbon" />)
  fireEvent.click(screen.getByRole("button", { name: "Table" }))
  const drain = screen.getByText("drain").closest("tr")
  expect([...(drain?.children ?? [])].map(({ textContent }) => textContent.trim())).toEqual([
    "crawl",
    "drain",
    "3.90 s",
    "1.00 s",
    "abandoned"
  ])
})

test("the newest turn is shown, and earlier ones on demand", async () => {
  const { link } = observerDouble()
  await show(<TurnTimeline link={link} chat="trip-to-lisbon" />)
  expect(screen.getByText("Find flights to Lisbon and check the weather")).toBeDefined()
  fireEvent.click(bar("Earlier turn"))
  expect(screen.getByText("Hi, plan a trip")).toBeDefined()
  expect(bars()).toHaveLength(2)
  expect(bar("Earlier turn").hasAttribute("disabled")).toBe(true)
})
