// @vitest-environment jsdom
import { act, cleanup, render } from "@testing-library/react"
import type { Store } from "@troupe/chat/store"
import type { ChatLink } from "@troupe/server"
import { createElement, type FunctionComponent, StrictMode } from "react"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { type Conversations, useChats } from "../../src/index.ts"
import { turn } from "../double/frames.ts"

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const summary = (id: string): Store.ChatList["chats"][number] => ({
  id,
  title: id,
  seq: 1,
  messages: 1,
  createdAt: 0,
  updatedAt: 0,
  running: false,
  waiting: 0
})

/** A link whose answers are given by hand. */
const asking = () => {
  const asked: Array<{ readonly options: Store.ListOptions; readonly answer: (list: Store.ChatList | Error) => void }> =
    []
  const removed: Array<string> = []
  const link = {
    list: (options: Store.ListOptions = {}) =>
      new Promise<Store.ChatList>((resolve, reject) => {
        asked.push({ options, answer: (list) => (list instanceof Error ? reject(list) : resolve(list)) })
      }),
    remove: async (id: string) => void removed.push(id)
  } as unknown as ChatLink.TroupeLink
  return { link, asked, removed }
}

const showing = (link: ChatLink.TroupeLink) => {
  const shown: { now: Conversations | undefined } = { now: undefined }
  const Page: FunctionComponent<{ readonly search?: string }> = ({ search }) => {
    shown.now = useChats({ link, search })
    return null
  }
  return { shown, Page }
}

const ids = (shown: Conversations | undefined): ReadonlyArray<string> => shown?.chats.map(({ id }) => id) ?? []

test("CONVS1 chats are listed page by page, and anew when asked", async () => {
  const { link, asked } = asking()
  const { shown, Page } = showing(link)
  render(createElement(Page))
  expect(shown.now).toMatchObject({ chats: [], loading: true })
  asked[0]?.answer({ chats: [summary("a")], next: "n1" })
  await turn()
  expect([ids(shown.now), shown.now?.loading]).toEqual([["a"], false])
  act(() => {
    void shown.now?.more?.()
  })
  expect(asked[1]?.options.after).toBe("n1")
  asked[1]?.answer({ chats: [summary("b")] })
  await turn()
  expect([ids(shown.now), shown.now?.more]).toEqual([["a", "b"], undefined])
  act(() => {
    void shown.now?.refresh()
  })
  expect(shown.now?.loading).toBe(true)
  asked[2]?.answer({ chats: [summary("c")] })
  await turn()
  expect(ids(shown.now)).toEqual(["c"])
})

test("CONVS2 an answer to what is no longer asked for is dropped", async () => {
  const { link, asked } = asking()
  const { shown, Page } = showing(link)
  const { rerender, unmount } = render(createElement(Page))
  rerender(createElement(Page, { search: "x" }))
  asked[1]?.answer({ chats: [summary("new")] })
  await turn()
  asked[0]?.answer({ chats: [summary("old")] })
  await turn()
  expect(ids(shown.now)).toEqual(["new"])
  act(() => {
    void shown.now?.refresh()
  })
  unmount()
  asked[2]?.answer({ chats: [] })
  await turn()
  expect(ids(shown.now)).toEqual(["new"])
})

test("LIST3 a failure is shown, and what was listed stays", async () => {
  const { link, asked } = asking()
  const { shown, Page } = showing(link)
  render(createElement(Page))
  asked[0]?.answer({ chats: [summary("a")] })
  await turn()
  act(() => {
    void shown.now?.refresh()
  })
  asked[1]?.answer(new Error("down"))
  await turn()
  expect([ids(shown.now), shown.now?.error?.message, shown.now?.loading]).toEqual([["a"], "down", false])
})

test("CONVS1 a removed chat is gone from the list, under StrictMode too", async () => {
  const { link, asked, removed } = asking()
  const { shown, Page } = showing(link)
  render(createElement(StrictMode, undefined, createElement(Page)))
  asked.at(-1)?.answer({ chats: [summary("a"), summary("b")] })
  await turn()
  let gone: Promise<void> | undefined
  await act(async () => {
    gone = shown.now?.remove("a")
  })
  asked.at(-1)?.answer({ chats: [summary("b")] })
  await act(() => gone ?? Promise.resolve())
  expect([ids(shown.now), removed]).toEqual([["b"], ["a"]])
})
