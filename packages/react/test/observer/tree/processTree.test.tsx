// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { ProcessTree } from "../../../src/index.ts"
import { node, observerDouble, treeWith } from "../../double/observerLinks.ts"
import { fade, row, rowNames, show } from "../screen.ts"

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key })
const focused = () => document.activeElement?.querySelector(".tro-label")?.textContent

test("each process is a row that says its level, its place among its siblings, and what it does", async () => {
  await show(<ProcessTree link={observerDouble().link} />)
  expect(rowNames()).toHaveLength(11)
  const chat = row("Chat trip-to-lisbon")
  expect(
    ["aria-level", "aria-posinset", "aria-setsize", "aria-expanded"].map((name) => chat.getAttribute(name))
  ).toEqual(["3", "2", "2", "true"])
  expect(chat.textContent).toContain("3 waiting")
  expect(row("ChatSupervisor").textContent).toContain("2 ↻ restarts")
  expect(row("Store").textContent).toContain("running812.0 kB")
})

test("the chat of a sub-agent has its short name, and the row of a chat shows their messages to it", async () => {
  const agentMessages = [
    { from: "c1", kind: "ask", text: "How deep?" },
    { from: "c1/~/writer-0123456789abcdef", kind: "tell", text: "Look left" }
  ]
  const child = node({
    id: "<0.2.0>",
    label: "Chat c1/~/research-1f3a9c2e77777777",
    chat: "c1/~/research-1f3a9c2e77777777",
    agentMessages
  })
  const observed = { ...treeWith(), tree: [node({ id: "<0.1.0>", label: "Chat c1", chat: "c1", children: [child] })] }
  const { link, tree } = observerDouble()
  tree.put(observed)
  await show(<ProcessTree link={link} titleOf={(chat) => (chat === "c1" ? "Oslo" : undefined)} />)
  expect(rowNames()).toEqual([expect.stringContaining("Chat Oslo"), expect.stringContaining("Chat research")])
  expect(screen.getByText("writer-01234567 tells: Look left").title).toBe(
    "parent asks: How deep?\nwriter-01234567 tells: Look left"
  )
})

test("arrow keys, Home and End lead through the rows, and one row at a time can be reached by Tab", async () => {
  await show(<ProcessTree link={observerDouble().link} />)
  act(() => row("Troupe").focus())
  press("ArrowDown")
  expect(focused()).toBe("Registry troupe.registry")
  press("End")
  expect(focused()).toBe("Sweeper")
  press("ArrowDown")
  expect(focused()).toBe("Sweeper")
  press("Home")
  expect(focused()).toBe("Troupe")
  expect(screen.getAllByRole("treeitem").filter(({ tabIndex }) => tabIndex === 0)).toEqual([row("Troupe")])
})

test("the left key closes a row and then leads to its parent, the right key opens it and then leads below", async () => {
  await show(<ProcessTree link={observerDouble().link} />)
  act(() => row("Step").focus())
  press("ArrowLeft")
  expect(row("Step").getAttribute("aria-expanded")).toBe("false")
  expect(rowNames()).not.toContain("weather")
  press("ArrowLeft")
  expect(focused()).toBe("Chat trip-to-lisbon")
  act(() => row("Step").focus())
  press("ArrowRight")
  expect(rowNames()).toContain("weather")
  press("ArrowRight")
  expect(focused()).toBe("ToolBatch")
})

test("letters lead to the next row that begins with them, round the end", async () => {
  await show(<ProcessTree link={observerDouble().link} />)
  act(() => row("Sweeper").focus())
  press("c")
  expect(focused()).toBe("ChatSupervisor")
  press("h")
  press("a")
  press("t")
  press(" ")
  expect(focused()).toBe("ChatSupervisor")
})

test("OBS3. when the process of the focused row ends, the focus moves to the nearest row above, never to the page", async () => {
  const { link, tree } = observerDouble()
  await show(<ProcessTree link={link} />)
  act(() => row("weather").focus())
  act(() => tree.put(treeWith("<0.20.0>")))
  expect(focused()).toBe("Chat budget-2027")
  act(() => tree.put({ ...treeWith(), tree: [node({ id: "<0.1.0>", label: "Troupe" })] }))
  expect(focused()).toBe("Troupe")
  press("ArrowDown")
  expect(focused()).toBe("Troupe")
})

test("OBS3. when the process of the focused row moves below another parent, its row keeps the focus", async () => {
  const { link, tree } = observerDouble()
  await show(<ProcessTree link={link} />)
  act(() => row("Sweeper").focus())
  const sweeper = node({ id: "<0.5.0>", label: "Sweeper" })
  const registry = node({ id: "<0.2.0>", label: "Registry", children: [sweeper] })
  const store = node({ id: "<0.3.0>", label: "Store" })
  const troupe = node({ id: "<0.1.0>", label: "Troupe", children: [registry, store] })
  act(() => tree.put({ ...treeWith(), tree: [troupe] }))
  expect(focused()).toBe("Sweeper")
  press("ArrowDown")
  expect(focused()).toBe("Store")
})

test("OBS3. when a click closes the parent of the focused row, the parent gets the focus", async () => {
  const { container } = await show(<ProcessTree link={observerDouble().link} />)
  act(() => row("weather").focus())
  fireEvent.click(container.querySelector(`[data-id="${row("Step").dataset["id"]}"] .tro-twist`) ?? container)
  expect(rowNames()).not.toContain("weather")
  expect(focused()).toBe("Step")
})

test("OBS3. a tree without the focus does not take it when processes end", async () => {
  const { link, tree } = observerDouble()
  await show(<ProcessTree link={link} />)
  act(() => row("weather").focus())
  act(() => row("weather").blur())
  act(() => tree.put({ ...treeWith(), tree: [node({ id: "<0.1.0>", label: "Troupe" })] }))
  expect(document.activeElement).toBe(document.body)
})

test("Enter, Space and a click select a process", async () => {
  const selected: Array<string> = []
  await show(<ProcessTree link={observerDouble().link} onSelect={(id) => selected.push(id)} />)
  act(() => row("Store").focus())
  press("Enter")
  press(" ")
  fireEvent.click(row("Sweeper"))
  expect(selected).toEqual(["<0.3.0>", "<0.3.0>", "<0.5.0>"])
})

test("a process that comes later fades in, one that ended fades out where it stood and is gone then", async () => {
  const { link, tree } = observerDouble()
  const { container } = await show(<ProcessTree link={link} />)
  expect(container.querySelectorAll("[data-new]")).toHaveLength(0)
  act(() => tree.put(treeWith("<0.20.0>")))
  expect(rowNames()).toHaveLength(11)
  const arrived = [...container.querySelectorAll("[data-new] .tro-label")].map(({ textContent }) => textContent)
  expect(arrived).toEqual(["Chat trip-to-lisbon", "Step", "ToolBatch", "search_flights", "weather"])
  const gone = [...container.querySelectorAll<HTMLElement>("[data-gone]")]
  expect(gone).toHaveLength(5)
  expect(gone.every((ghost) => ghost.getAttribute("aria-hidden") === "true" && ghost.tabIndex === -1)).toBe(true)
  for (const ghost of gone) fade(ghost)
  expect(container.querySelectorAll("[data-gone]")).toHaveLength(0)
})

test("rows that are closed are not gone", async () => {
  const { link } = observerDouble()
  const { container } = await show(<ProcessTree link={link} />)
  act(() => row("ChatSupervisor").focus())
  press("ArrowLeft")
  expect(container.querySelectorAll("[data-gone]")).toHaveLength(0)
})

test("a tree that shows fewer processes than live says how many", async () => {
  const tree = [node({ id: "<0.1.0>", label: "Troupe", hidden: 1_999 })]
  await show(<ProcessTree link={observerDouble({ ...treeWith(), processes: 2_000, tree }).link} />)
  expect(screen.getByText("1 of 2,000 processes shown")).toBeDefined()
  expect(row("Troupe").textContent).toContain("+1,999")
})

test("what keeps the tree from being seen is said, with the tree as it was seen last", async () => {
  const { link, tree } = observerDouble()
  const cut: { error: Error | undefined } = { error: new Error("The server is not there") }
  const far = { ...link, tree: { getState: tree.getState, subscribe: tree.subscribe, getError: () => cut.error } }
  await show(<ProcessTree link={far} />)
  expect(screen.getByRole("alert").textContent).toBe("This is what was seen last: The server is not there")
  expect(rowNames()).toHaveLength(11)
  cut.error = undefined
  act(() => tree.put(treeWith()))
  expect(screen.queryByRole("alert")).toBeNull()
})

test("a tree that is shown no more is watched no more", async () => {
  const { link, tree } = observerDouble()
  const { unmount } = await show(<ProcessTree link={link} />)
  expect(tree.watchers).toBeGreaterThan(0)
  unmount()
  expect(tree.watchers).toBe(0)
})
