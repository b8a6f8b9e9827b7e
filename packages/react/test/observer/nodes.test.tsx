// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react"
import type { ChatLink } from "@troupe/server"
import axe from "axe-core"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { Observer } from "../../src/index.ts"
import { chatDouble, observerDouble, treeWith, Watchable } from "../double/observerLinks.ts"
import { row, show } from "./screen.ts"

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const homeAt = (node: string, more: Partial<ChatLink.NodeStatus> = {}): ChatLink.NodeStatus => ({
  node,
  state: "alive",
  role: "home",
  buckets: 2_048,
  epoch: 7,
  chats: 1,
  ...more
})

const [a, b, gateway] = ["10.0.0.1:7700", "10.0.0.2:7700", "10.0.0.3:7700"] as const

const threeNodes: ReadonlyArray<ChatLink.NodeStatus> = [
  homeAt(a),
  homeAt(b, { state: "draining", epoch: 9, chats: 3 }),
  { node: gateway, state: "alive", role: "gateway", buckets: 0, epoch: 0, chats: 0 }
]

/** The link of a client that has reached the gateway of a cluster; the chat of `b` is `<0.20.0>`. */
const clusterDouble = (first: ReadonlyArray<ChatLink.NodeStatus> = threeNodes) => {
  const ofNode = (node: string, chat: string) => observerDouble({ ...treeWith(chat), node })
  const at: { readonly [node: string]: ReturnType<typeof observerDouble> } = {
    [a]: ofNode(a, "<0.7.0>"),
    [b]: ofNode(b, "<0.20.0>"),
    [gateway]: observerDouble({ ...treeWith(), tree: [], node: gateway })
  }
  const list = new Watchable(first)
  const asked: Array<string | undefined> = []
  const reached = observerDouble({ ...treeWith(), tree: [], node: gateway })
  const link: ChatLink.ObserverLink = {
    ...reached.link,
    nodes: (chat) => {
      asked.push(chat)
      return list
    },
    node: (address) => at[address]?.link ?? reached.link
  }
  return { link, list, asked, at }
}

const options = () => screen.getAllByRole("option").map(({ textContent }) => textContent)
const option = (name: string) => screen.getByRole("option", { name: new RegExp(`^${name}`, "u") })

test("the nodes of a cluster are listed with their state, buckets, epoch and chats, and the reached one is shown", async () => {
  const { link, list } = clusterDouble()
  await show(<Observer link={link} />)
  expect(options()).toEqual([
    `${a} alive  home · 2,048 buckets · epoch 7 · 1 chat`,
    `${b} draining  home · 2,048 buckets · epoch 9 · 3 chats`,
    `${gateway} alive  gateway · 0 chats`
  ])
  expect(option(gateway).getAttribute("aria-selected")).toBe("true")
  act(() => list.put([homeAt(a, { state: "silent" }), ...threeNodes.slice(1)]))
  expect(option(a).textContent).toContain("silent")
})

test("a chosen node has its own tree and process, and a kill is that node's", async () => {
  const { link, at } = clusterDouble()
  await show(<Observer link={link} />)
  fireEvent.click(option(b))
  expect(row("Chat trip-to-lisbon").dataset["id"]).toBe("<0.20.0>")
  fireEvent.click(row("Chat trip-to-lisbon"))
  const pane = within(screen.getByRole("region", { name: "Process" }))
  fireEvent.click(pane.getByRole("button", { name: "Kill…" }))
  await act(async () => fireEvent.click(pane.getByRole("button", { name: "Kill" })))
  expect([at[a]?.killed, at[b]?.killed, at[gateway]?.killed]).toEqual([[], ["<0.20.0>"], []])
  fireEvent.click(option(a))
  expect(row("Chat trip-to-lisbon").dataset["id"]).toBe("<0.7.0>")
})

test("arrow keys, Home and End choose a node, and the list is one stop of the Tab key", async () => {
  await show(<Observer link={clusterDouble().link} />)
  const stops = () => screen.getAllByRole("option").map(({ tabIndex }) => tabIndex)
  expect(stops()).toEqual([-1, -1, 0])
  for (const [key, name] of [
    ["ArrowRight", a],
    ["ArrowRight", b],
    ["End", gateway],
    ["ArrowLeft", b],
    ["Home", a]
  ] as const) {
    fireEvent.keyDown(screen.getByRole("option", { selected: true }), { key })
    expect(document.activeElement).toBe(option(name))
    expect(option(name).getAttribute("aria-selected")).toBe("true")
  }
  expect(stops()).toEqual([0, -1, -1])
})

test("OBS4. the home of the chat is shown until the reader chooses, also after the chat has moved", async () => {
  const withChat = (home: string) => threeNodes.map((one) => ({ ...one, hasChat: one.node === home }))
  const { link, list, asked } = clusterDouble(withChat(a))
  await show(<Observer link={link} chat={chatDouble().link} />)
  expect(new Set(asked)).toEqual(new Set(["trip-to-lisbon"]))
  expect(row("Chat trip-to-lisbon").dataset["id"]).toBe("<0.7.0>")
  expect(option(a).textContent).toContain("has the chat")
  act(() => list.put(withChat(b)))
  expect(row("Chat trip-to-lisbon").dataset["id"]).toBe("<0.20.0>")
  fireEvent.click(option(a))
  act(() => list.put(withChat(gateway)))
  expect(option(a).getAttribute("aria-selected")).toBe("true")
})

test("OBS4. a chosen node that is gone stays shown, with what was seen last", async () => {
  const { link, list, at } = clusterDouble()
  await show(<Observer link={link} />)
  fireEvent.click(option(b))
  const dead = at[b]
  act(() => {
    dead?.tree.fail(new Error("The node gave no answer"))
    list.put([homeAt(a)])
  })
  expect(option(b).textContent).toContain("gone")
  expect(screen.getByRole("alert").textContent).toBe("This is what was seen last: The node gave no answer")
  expect(row("Chat trip-to-lisbon").dataset["id"]).toBe("<0.20.0>")
})

test("OBS5. without a cluster, and for one node, there is no list, and without a cluster none is requested", async () => {
  const { link, list } = clusterDouble()
  const alone = { ...link, tree: observerDouble().tree }
  const { unmount } = await show(<Observer link={alone} />)
  expect([screen.queryByRole("listbox"), list.watchers]).toEqual([null, 0])
  unmount()
  await show(<Observer link={clusterDouble([homeAt(gateway)]).link} />)
  expect(screen.queryByRole("listbox")).toBeNull()
})

test("the list of nodes has no accessibility fault that can be found by machine", async () => {
  const { container } = await show(<Observer link={clusterDouble().link} />)
  const rules = { "color-contrast": { enabled: false } }
  const { violations } = await axe.run(container, { rules })
  expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([])
})
