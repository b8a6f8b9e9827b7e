// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { EventLog } from "../../../src/index.ts"
import { chatDouble, commits } from "../../double/observerLinks.ts"
import { show } from "../screen.ts"

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const entries = () => [...document.querySelectorAll(".tro-seq")].map(({ textContent }) => textContent)
const off = () => [...document.querySelectorAll("[data-off] .tro-seq")].map(({ textContent }) => textContent)
const click = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name })))

test("entries stand the newest first, and those that were rewound over are dimmed", async () => {
  await show(<EventLog chat={chatDouble().link} />)
  expect(entries()).toEqual(["#7", "#6", "#5", "#4", "#3", "#2", "#1"])
  expect(off()).toEqual(["#4", "#3"])
  expect(screen.getByText("Rewound to #2")).toBeDefined()
  expect(screen.getByText("calls search_flights, weather")).toBeDefined()
})

test("the entry of a compaction says what it made smaller", async () => {
  const [first] = commits
  if (first === undefined) throw new Error("no entry")
  const compaction = { upTo: 12, kept: [], tokens: { before: 5_100, after: 1_900 } }
  const { link } = chatDouble([{ ...first, entries: [{ type: "Compacted", compaction }] }])
  await show(<EventLog chat={link} />)
  expect(screen.getByText("Compacted: requests leave out 12 messages, 5,100 → 1,900 tokens")).toBeDefined()
})

test("an entry in the middle of a step can be neither forked nor rewound to", async () => {
  await show(<EventLog chat={chatDouble().link} />)
  expect(screen.queryByRole("button", { name: "Fork at #7" })).toBeNull()
  expect(screen.getByRole("button", { name: "Fork at #6" })).toBeDefined()
})

test("a fork asks first, and passes the id of the new chat on", async () => {
  const { link, asked } = chatDouble()
  const forked: Array<string> = []
  await show(<EventLog chat={link} onFork={(id) => forked.push(id)} />)
  await click("Fork at #2")
  expect(asked).toEqual([])
  await click("Fork")
  expect([asked, forked]).toEqual([["fork 2"], ["forked-1"]])
  expect(screen.getByRole("status").textContent).toBe("Forked at #2: forked-1")
})

test("a rewind asks first, and its entry is shown then", async () => {
  const { link, asked } = chatDouble()
  await show(<EventLog chat={link} />)
  await click("Rewind to #4")
  await click("Cancel")
  expect(asked).toEqual([])
  await click("Rewind to #4")
  await click("Rewind")
  expect(asked).toEqual(["rewind 4"])
  expect(entries()[0]).toBe("#8")
  expect(off()).toEqual(["#7", "#6", "#5"])
})

test("a long log comes in pages, and is asked for in parts", async () => {
  const [first] = commits
  if (first === undefined) throw new Error("no entry")
  const long = Array.from({ length: 230 }, (_, index) => ({ ...first, seq: index + 1 }))
  const { link } = chatDouble(long)
  const asked: Array<number | undefined> = []
  const counted = {
    ...link,
    history: (page?: { after?: number; limit?: number }) => (asked.push(page?.after), link.history(page))
  }
  await show(<EventLog chat={counted} pageSize={100} />)
  expect(asked).toEqual([0, 100, 200])
  expect(entries()[0]).toBe("#230")
  await click("Older")
  await click("Older")
  expect(entries()).toHaveLength(30)
  expect(screen.getByRole("button", { name: "Older" }).hasAttribute("disabled")).toBe(true)
  await click("Newer")
  expect(entries()[0]).toBe("#130")
})

test("a chat that goes on is asked for the entries that came since, alone", async () => {
  const { link, state } = chatDouble()
  const asked: Array<number | undefined> = []
  const counted = {
    ...link,
    history: (page?: { after?: number; limit?: number }) => (asked.push(page?.after), link.history(page))
  }
  await show(<EventLog chat={counted} />)
  const { view } = link.getState()
  await act(async () => state.put({ ...link.getState(), view: { ...view, phase: "streaming" } }))
  expect(asked).toEqual([0, 7])
})

test("a store without a log and a chat that nobody began are no failures", async () => {
  const { link } = chatDouble()
  const refused = (fields: object) => ({
    ...link,
    history: () => Promise.reject(Object.assign(new Error("no"), fields))
  })
  const { rerender } = await show(<EventLog chat={refused({ reason: "store_without_log" })} />)
  expect(screen.getByText("The store keeps no log.")).toBeDefined()
  await act(async () => rerender(<EventLog chat={refused({ code: "unknown_chat" })} />))
  expect(screen.getByText("Nothing was kept yet.")).toBeDefined()
  expect(screen.queryByRole("alert")).toBeNull()
})

test("a log that cannot be read says why, and is read again on demand", async () => {
  const { link } = chatDouble()
  let refused = true
  const refusing = {
    ...link,
    history: (page?: { after?: number; limit?: number }) =>
      refused ? Promise.reject(new Error("This store keeps no log")) : link.history(page)
  }
  await show(<EventLog chat={refusing} />)
  expect(screen.getByRole("alert").textContent).toContain("This store keeps no log")
  refused = false
  await click("Try again")
  expect(screen.queryByRole("alert")).toBeNull()
  expect(entries()).toHaveLength(7)
})
