import { Fake, type RunningTroupe, tool, Troupe } from "@troupe/chat"
import { Process, System } from "@troupe/otp"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { ObserverLink, Watched } from "../../src/link/ChatLink.ts"
import { connect, HttpError } from "../../src/client/Client.ts"
import * as Local from "../../src/link/Local.ts"
import * as Node from "../../src/node/Node.ts"
import * as Server from "../../src/server/Server.ts"

let system: System.System
let troupe: RunningTroupe
let listening: Node.Listening
let far: ObserverLink
let near: ObserverLink

const hang = tool({ name: "hang", execute: () => new Promise(() => {}) })

beforeEach(async () => {
  system = System.make()
  const script: Fake.Script = [{ toolCall: { id: "t1", name: "hang", arguments: {} } }, { finish: "tool_calls" }]
  troupe = await Troupe.start({ adapter: Fake.make({ script }), tools: [hang], system, drainMs: 10 })
  const server = Server.make({
    troupe,
    authorize: (request) => ({ owner: "anna", may: { observe: request.headers.get("authorization") !== "no" } })
  })
  listening = await Node.listen(server)
  far = connect({ url: listening.url }).observer
  near = Local.local(troupe).observer
})

afterEach(async () => {
  await listening.close()
  await troupe.stop()
  await System.stop(system)
})

/** Resolves once what is watched is as wanted; leaves then. */
const seen = <A>(watched: Watched<A>, requested: (state: A) => boolean): Promise<A> =>
  new Promise((resolve) => {
    const look = (): void => {
      const state = watched.getState()
      if (state === undefined || !requested(state)) return
      queueMicrotask(() => {
        leave()
        resolve(state)
      })
    }
    const leave = watched.subscribe(look)
    look()
  })

describe.each([
  ["near", () => near],
  ["far", () => far]
])("the observer, %s,", (_where, link) => {
  test("shows the tree as it changes, a process with its chart, and the timeline of its chat", async () => {
    const chat = await troupe.chat("anna/c1")
    chat.send("go")
    const { tree } = await seen(link().tree, ({ tree: roots }) => JSON.stringify(roots).includes("ToolCall hang"))
    expect(tree[0]?.label).toBe("Troupe")
    const detail = await seen(link().process(String(chat.pid)), ({ chart }) => chart !== undefined)
    expect(detail).toMatchObject({ label: "Chat anna/c1", alive: true, chart: { machine: "chat" } })
    const timeline = await seen(link().timeline("anna/c1"), ({ spans }) => spans.length > 1)
    expect(timeline.spans.map(({ kind }) => kind).filter((kind) => kind !== "queue")).toEqual(["turn", "call"])
  })

  test("kills a process, and shows the one that took its place", async () => {
    const chat = await troupe.chat("anna/c1")
    const before = String(chat.pid)
    const gone = new Promise<void>((resolve) => void (chat.pid && Process.onExit(chat.pid, () => resolve())))
    await link().kill(before)
    await gone
    const { tree } = await seen(link().tree, ({ restarts }) => restarts === 1)
    expect(JSON.stringify(tree)).not.toContain(before)
    await seen(link().tree, ({ tree: roots }) => JSON.stringify(roots).includes("Chat anna/c1"))
  })

  test("watches the same thing under the same name", () => {
    expect(link().process("<0.1.0>")).toBe(link().process("<0.1.0>"))
    expect(link().timeline("c1")).toBe(link().timeline("c1"))
  })
})

describe("the far observer", () => {
  test("says why it is refused, and notifies its subscribers", async () => {
    const { tree, kill } = connect({ url: listening.url, headers: { authorization: "no" } }).observer
    await new Promise<void>((resolve) => void tree.subscribe(resolve))
    expect(tree.getError?.()).toBeInstanceOf(HttpError)
    expect(tree.getError?.()).toMatchObject({ status: 403, code: "forbidden" })
    expect(tree.getState()).toBe(undefined)
    await expect(kill("<0.1.0>")).rejects.toMatchObject({ code: "forbidden" })
  })

  test("ROBS1 leaves the server's stream with its last subscriber", async () => {
    const asked: Array<AbortSignal | null | undefined> = []
    const { tree } = connect({
      url: listening.url,
      fetch: (url, init) => {
        asked.push(init.signal)
        return fetch(url, init)
      }
    }).observer
    expect(asked).toEqual([])
    const leave = [tree.subscribe(() => {}), tree.subscribe(() => {})]
    await seen(tree, () => true)
    leave[0]?.()
    expect(asked.map((signal) => signal?.aborted)).toEqual([false])
    leave[1]?.()
    expect(asked.map((signal) => signal?.aborted)).toEqual([true])
  })

  test("ROBS2 keeps what was seen of a process that is gone, and says that it is", async () => {
    const pid = Process.spawn(system, () => new Promise(() => {}), { label: "job" })
    const watched = far.process(String(pid))
    const leave = watched.subscribe(() => {})
    await seen(watched, ({ alive }) => alive)
    Process.kill(pid)
    const last = await seen(watched, ({ alive }) => !alive)
    expect(last).toMatchObject({ label: "job", alive: false })
    leave()
  })
})
