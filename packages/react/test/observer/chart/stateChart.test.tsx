// @vitest-environment jsdom
import { adapterStreamMachine, chatMachine } from "@troupe/chat/machines"
import { cleanup, fireEvent, screen } from "@testing-library/react"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { setup } from "xstate"
import { StateChart } from "../../../src/index.ts"
import { activeOf, graphOf, type GraphState } from "../../../src/observer/chart/chartGraph.ts"
import { chatMachines } from "../../../src/observer/chart/chatMachines.ts"
import { type Box, layoutOf } from "../../../src/observer/chart/chartLayout.ts"
import { viewAround, wholeOf } from "../../../src/observer/chart/chartView.ts"
import { until } from "../../double/frames.ts"
import { show } from "../screen.ts"

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const drawn = () => until(() => document.querySelector("svg") !== null)
const lit = () => [...document.querySelectorAll("[data-active] > text")].map(({ textContent }) => textContent)

describe("a graph", () => {
  test("has the states, initial states and transitions of its machine", () => {
    const graph = graphOf(adapterStreamMachine)
    expect(graph.states.map(({ id, isFinal }) => [id, isFinal])).toEqual([
      ["opening", false],
      ["waiting", false],
      ["streaming", false],
      ["cancelled", false],
      ["exhausted", true],
      ["refused", true]
    ])
    expect(graph.initial).toBe("opening")
    expect(graph.edges).toContainEqual({
      from: "opening",
      to: "streaming",
      labels: ["request.opened", "request.refused [wasOpened]"]
    })
  })

  test("names a guard that is a function by its name, and a delay by its name", () => {
    const isReady = () => true
    const machine = setup({ delays: { pause: 10 } }).createMachine({
      id: "two",
      initial: "one",
      states: {
        one: { after: { pause: "two" }, on: { go: { guard: isReady, target: "two" } } },
        two: { type: "final" }
      }
    })
    expect(graphOf(machine).edges).toEqual([{ from: "one", to: "two", labels: ["go [isReady]", "after pause"] }])
  })

  test("is lit where the state value says, with all states around", () => {
    expect(activeOf("idle")).toEqual(["idle"])
    expect(activeOf({ running: { committing: "saving" } })).toEqual([
      "running",
      "running.committing",
      "running.committing.saving"
    ])
    expect(activeOf({ left: "on", right: "off" })).toEqual(["left", "left.on", "right", "right.off"])
    expect(activeOf(undefined)).toEqual([])
  })
})

const idsOf = (states: ReadonlyArray<GraphState>): ReadonlyArray<string> =>
  states.flatMap(({ id, states: inner }) => [id, ...idsOf(inner)])

describe("a layout", () => {
  test.each([...chatMachines])("has every state of the machine %s", async (_, machine) => {
    const graph = graphOf(machine)
    const { states } = await layoutOf(graph)
    expect(new Set(states.map(({ id }) => id))).toEqual(new Set(idsOf(graph.states)))
  })

  test("puts each state into the one that holds it, and no two on one place", async () => {
    const { states } = await layoutOf(graphOf(chatMachine))
    const inside = (inner: Box, outer: Box): boolean =>
      inner.x >= outer.x &&
      inner.y >= outer.y &&
      inner.x + inner.width <= outer.x + outer.width &&
      inner.y + inner.height <= outer.y + outer.height
    const holding = (id: string) => states.find((state) => state.id === id.slice(0, Math.max(0, id.lastIndexOf("."))))
    for (const state of states) {
      const holder = holding(state.id)
      if (holder !== undefined) expect([state.id, inside(state, holder)]).toEqual([state.id, true])
    }
    const leaves = states.filter(({ isCompound }) => !isCompound)
    const meets = (one: Box, other: Box): boolean =>
      one.x < other.x + other.width &&
      other.x < one.x + one.width &&
      one.y < other.y + other.height &&
      other.y < one.y + one.height
    expect(leaves.flatMap((one, index) => leaves.slice(index + 1).filter((other) => meets(one, other)))).toEqual([])
  })

  test("is shown whole where it can be read then, and else around what is active", () => {
    const whole = wholeOf({ width: 1_800, height: 1_200 })
    expect(viewAround([{ x: 900, y: 600, width: 80, height: 30 }], whole, { width: 1_700, height: 1_100 })).toEqual(
      whole
    )
    const near = viewAround([{ x: 900, y: 600, width: 80, height: 30 }], whole, { width: 500, height: 400 })
    expect([near.x < 900, near.x + near.width > 980, near.width]).toEqual([true, true, 500])
  })
})

describe("a chart", () => {
  test("is drawn with its active states, which a text lists, too", async () => {
    const { rerender } = await show(<StateChart machine="adapterStream" value="opening" />)
    expect(screen.getByRole("status").textContent).toBe("adapterStream is in opening")
    await drawn()
    expect(screen.getByRole("img").getAttribute("aria-label")).toBe("adapterStream: active are opening")
    expect(lit()).toEqual(["opening"])
    rerender(<StateChart machine="adapterStream" value="waiting" />)
    expect(lit()).toEqual(["waiting"])
    expect(document.querySelectorAll(".tro-edge[data-live]")).toHaveLength(2)
  })

  test("of a machine of one's own is drawn, given by itself or by its id", async () => {
    const machine = setup({}).createMachine({ id: "door", initial: "shut", states: { shut: {} } })
    const { rerender } = await show(<StateChart machine="door" value="shut" />)
    expect(screen.getByText(/No machine door is known here/)).toBeDefined()
    rerender(<StateChart machine="door" value="shut" machines={{ door: machine }} />)
    await drawn()
    expect(lit()).toEqual(["shut"])
  })

  test("is moved by keys and buttons, and follows again on demand", async () => {
    await show(<StateChart machine="chat" value={{ running: "phaseA" }} />)
    await drawn()
    const box = () => document.querySelector("svg")?.getAttribute("viewBox")
    const followed = box()
    fireEvent.keyDown(screen.getByRole("group", { name: /^Chart of chat/ }), { key: "ArrowRight" })
    const moved = box()
    expect(moved).not.toBe(followed)
    fireEvent.click(screen.getByRole("button", { name: "Zoom in" }))
    expect(box()).not.toBe(moved)
    fireEvent.click(screen.getByRole("button", { name: "All" }))
    expect(box()?.startsWith("0 0 ")).toBe(true)
    fireEvent.click(screen.getByRole("button", { name: "Follow" }))
    expect(box()).toBe(followed)
  })
})
