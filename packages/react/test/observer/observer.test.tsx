// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { Observer } from "../../src/index.ts"
import { chatDouble, node, observerDouble, treeWith } from "../double/observerLinks.ts"
import { row, show } from "./screen.ts"

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const pane = () => within(screen.getByRole("region", { name: "Process" }))

test("the chat's process is selected at first, and its chart is drawn", async () => {
  await show(<Observer link={observerDouble().link} chat={chatDouble().link} />)
  expect(row("Chat trip-to-lisbon").getAttribute("aria-selected")).toBe("true")
  expect(pane().getByRole("heading", { name: "Chat trip-to-lisbon" })).toBeDefined()
  expect(screen.getByRole("region", { name: "Chart" }).textContent).toContain("chat is in running › phaseA")
})

test("until the reader has chosen, the chat's process is selected as soon as there is one", async () => {
  const first = treeWith()
  const { link, tree } = observerDouble({ ...first, tree: withoutChat(first.tree) })
  await show(<Observer link={link} chat={chatDouble().link} />)
  expect(screen.queryAllByRole("treeitem", { selected: true })).toEqual([])
  act(() => tree.put(first))
  expect(row("Chat trip-to-lisbon").getAttribute("aria-selected")).toBe("true")
  fireEvent.click(row("Store"))
  act(() => tree.put(treeWith()))
  expect(row("Store").getAttribute("aria-selected")).toBe("true")
})

test("who is about to kill what nobody starts again is told so", async () => {
  await show(<Observer link={observerDouble().link} />)
  fireEvent.click(row("Troupe"))
  fireEvent.click(pane().getByRole("button", { name: "Kill…" }))
  expect(
    pane().queryAllByRole("group", { name: "Kill Troupe, and all below it? Nobody starts it again." })
  ).toHaveLength(1)
})

test("a link of a process leads to the process it names", async () => {
  await show(<Observer link={observerDouble().link} />)
  fireEvent.click(row("Chat trip-to-lisbon"))
  fireEvent.click(pane().getByRole("button", { name: "Step <0.8.0>" }))
  expect(pane().getByRole("heading", { name: "Step" })).toBeDefined()
  expect(row("Step").getAttribute("aria-selected")).toBe("true")
})

test("the chart of the chat stays where the selected process has none", async () => {
  await show(<Observer link={observerDouble().link} chat={chatDouble().link} />)
  fireEvent.click(row("Store"))
  expect(screen.getByRole("region", { name: "Chart" }).textContent).toContain("chat is in running › phaseA")
})

describe("a process", () => {
  test("is killed only after a question, and Escape takes that back", async () => {
    const { link, killed } = observerDouble()
    await show(<Observer link={link} chat={chatDouble().link} />)
    fireEvent.click(pane().getByRole("button", { name: "Kill…" }))
    const question = pane().getByRole("group", { name: "Kill Chat trip-to-lisbon?" })
    const confirm = within(question).getByRole("button", { name: "Kill" })
    expect(document.activeElement).toBe(confirm)
    fireEvent.keyDown(confirm, { key: "Escape" })
    expect(document.activeElement).toBe(pane().getByRole("button", { name: "Kill…" }))
    expect(killed).toEqual([])
    fireEvent.click(pane().getByRole("button", { name: "Kill…" }))
    await act(async () => fireEvent.click(pane().getByRole("button", { name: "Kill" })))
    expect(killed).toEqual(["<0.7.0>"])
  })

  test("that is about to be killed leaves the focus where it is, while the system goes on", async () => {
    const { link, tree } = observerDouble()
    await show(<Observer link={link} chat={chatDouble().link} />)
    fireEvent.click(pane().getByRole("button", { name: "Kill…" }))
    const cancel = pane().getByRole("button", { name: "Cancel" })
    act(() => cancel.focus())
    act(() => tree.put(treeWith()))
    expect(document.activeElement).toBe(cancel)
  })

  test("that could not be killed says why", async () => {
    const { link } = observerDouble()
    const refusing = { ...link, kill: () => Promise.reject(new Error("You may not kill here")) }
    await show(<Observer link={refusing} chat={chatDouble().link} />)
    fireEvent.click(pane().getByRole("button", { name: "Kill…" }))
    await act(async () => fireEvent.click(pane().getByRole("button", { name: "Kill" })))
    expect(pane().getByRole("alert").textContent).toBe("You may not kill here")
  })

  test("OBS2. that was killed here is followed to its successor, which is pointed out", async () => {
    const { link, tree } = observerDouble()
    await show(<Observer link={link} chat={chatDouble().link} />)
    fireEvent.click(pane().getByRole("button", { name: "Kill…" }))
    await act(async () => fireEvent.click(pane().getByRole("button", { name: "Kill" })))
    const others = treeWith("<0.20.0>")
    act(() => tree.put({ ...others, tree: withoutChat(others.tree) }))
    expect(screen.queryAllByRole("treeitem", { selected: true })).toEqual([])
    act(() => tree.put(treeWith("<0.20.0>")))
    const back = row("Chat trip-to-lisbon")
    expect([back.getAttribute("aria-selected"), back.dataset["id"]]).toEqual(["true", "<0.20.0>"])
    expect(back.textContent).toContain("back")
  })

  test("that was chosen and ended by itself stays, and its successor is offered", async () => {
    const { link, tree, process } = observerDouble()
    await show(<Observer link={link} chat={chatDouble().link} />)
    fireEvent.click(row("Chat trip-to-lisbon"))
    const before = process("<0.7.0>").getState()
    act(() => {
      if (before !== undefined) process("<0.7.0>").put({ ...before, alive: false })
      tree.put(treeWith("<0.20.0>"))
    })
    expect(pane().queryByRole("button", { name: "Kill…" })).toBeNull()
    fireEvent.click(pane().getByRole("button", { name: "<0.20.0>" }))
    expect(row("Chat trip-to-lisbon").getAttribute("aria-selected")).toBe("true")
  })
})

const withoutChat = (nodes: ReturnType<typeof treeWith>["tree"]): ReturnType<typeof treeWith>["tree"] =>
  nodes
    .filter(({ label }) => label !== "Chat trip-to-lisbon")
    .map((one) => node({ ...one, children: withoutChat(one.children) }))

test("tokens are shown without prices, and what they cost with them", async () => {
  const { link } = observerDouble()
  const chat = chatDouble().link
  const { rerender } = await show(<Observer link={link} chat={chat} />)
  expect(screen.queryByText("Cost")).toBeNull()
  await act(async () =>
    rerender(<Observer link={link} chat={chat} prices={{ input: 5, output: 25, cachedInput: 0.5 }} />)
  )
  // 5,404 fresh, 12,800 cached and 1,311 written tokens.
  expect(screen.getByText("Cost").nextSibling?.textContent).toBe("$0.0662")
})

describe("where there is little room", () => {
  beforeEach(() => {
    class Measured {
      readonly #notify: ResizeObserverCallback
      constructor(notify: ResizeObserverCallback) {
        this.#notify = notify
      }
      observe(): void {
        this.#notify([{ contentRect: { width: 390, height: 800 } } as ResizeObserverEntry], this)
      }
      unobserve(): void {}
      disconnect(): void {}
    }
    vi.stubGlobal("ResizeObserver", Measured)
  })

  test("one part is shown at a time, and keys lead from tab to tab", async () => {
    await show(<Observer link={observerDouble().link} chat={chatDouble().link} />)
    expect(screen.getAllByRole("tab").map(({ textContent }) => textContent)).toEqual([
      "Processes",
      "Process",
      "Chart",
      "Turn",
      "Log"
    ])
    expect(screen.getByRole("tabpanel").getAttribute("data-part")).toBe("processes")
    await act(async () => fireEvent.keyDown(screen.getByRole("tab", { name: "Processes" }), { key: "ArrowLeft" }))
    expect(document.activeElement).toBe(screen.getByRole("tab", { name: "Log", selected: true }))
    expect(screen.getByRole("tabpanel").getAttribute("data-part")).toBe("log")
  })

  test("OBS1. what is not shown is not watched", async () => {
    const { link, timeline } = observerDouble()
    await show(<Observer link={link} chat={chatDouble().link} />)
    expect(timeline.watchers).toBe(0)
    fireEvent.click(screen.getByRole("tab", { name: "Turn" }))
    expect(timeline.watchers).toBe(1)
    await act(async () => fireEvent.click(screen.getByRole("tab", { name: "Log" })))
    expect(timeline.watchers).toBe(0)
  })

  test("a process that is selected is shown", async () => {
    await show(<Observer link={observerDouble().link} />)
    fireEvent.click(row("Store"))
    expect(screen.getByRole("tabpanel").getAttribute("data-part")).toBe("process")
    expect(screen.getByRole("heading", { name: "Store" })).toBeDefined()
  })
})
