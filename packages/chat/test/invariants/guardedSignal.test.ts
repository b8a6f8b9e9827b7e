import { System, Telemetry } from "@troupe/otp"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { ok } from "../../src/values/HandlerResult.ts"
import { guarded } from "../../src/async/guardedSignal.ts"
import type * as Permissions from "../../src/gate/Permissions.ts"
import { make } from "../../src/tool/Tool.ts"
import * as ToolRunner from "../../src/session/ToolRunner.ts"
import { hop } from "../double/hop.ts"
import type { ToolContext } from "../../src/tool/toolContract.ts"

const signalOf = () => {
  const system = System.make()
  const controller = new AbortController()
  const failures: Array<unknown> = []
  Telemetry.attach(system, "abort_listener.failure", ({ metadata }) => failures.push(metadata.error))
  return { system, failures, signal: guarded(controller.signal, system), abort: () => controller.abort() }
}

const throwing = () => {
  throw new Error("a listener's bug")
}

test("ABORT1 what a handler's own abort listener throws ends nothing, and is reported", async () => {
  const { system, failures } = signalOf()
  const abort = new AbortController()
  let isNotified = false
  const listens = make({
    name: "listens",
    handler: (_args: unknown, { signal }: ToolContext) => {
      signal.addEventListener("abort", throwing)
      signal.addEventListener("abort", async () => throwing())
      signal.onabort = throwing
      signal.addEventListener("abort", () => (isNotified = true))
      abort.abort()
      return new Promise(() => {})
    }
  })
  const { messages } = await ToolRunner.runToolCalls([{ id: "c0", name: "listens", arguments: {} }], [listens], {
    system,
    signal: abort.signal,
    drainMs: 0
  })
  await hop()
  expect(messages.map(({ outcome }) => outcome)).toEqual(["abandoned"])
  expect(isNotified).toBe(true)
  expect(failures.map(String)).toEqual(Array(3).fill("Error: a listener's bug"))
})

test("ABORT1 what an abort listener of a permission question throws ends nothing", async () => {
  const { system, failures } = signalOf()
  const abort = new AbortController()
  const permissions: Permissions.Permissions = {
    ask: ({ signal }) => {
      signal.addEventListener("abort", throwing)
      abort.abort()
      return new Promise(() => {})
    }
  }
  const asks = make({ name: "asks", effect: "write", handler: () => ok(1) })
  await ToolRunner.runToolCalls([{ id: "c0", name: "asks", arguments: {} }], [asks], {
    system,
    signal: abort.signal,
    permissions
  })
  expect(failures).toHaveLength(1)
})

test("ABORT2 a listener is added once, removed by itself, and called with the signal and the event", () => {
  const { signal, abort } = signalOf()
  const calls: Array<unknown> = []
  function listener(this: unknown, event: Event) {
    calls.push([this === signal, event.type, event.target === signal])
  }
  const removed = () => calls.push("removed")
  const object = { handleEvent: (event: Event) => calls.push(["object", event.type]) }
  signal.addEventListener("abort", listener)
  signal.addEventListener("abort", listener)
  signal.addEventListener("abort", object, { once: true })
  signal.addEventListener("abort", removed)
  signal.removeEventListener("abort", removed)
  signal.onabort = () => calls.push("replaced")
  signal.onabort = removed
  expect(signal.onabort).toBe(removed)
  signal.onabort = null
  abort()
  expect(calls).toEqual([
    [true, "abort", true],
    ["object", "abort"]
  ])
})

test("ABORT3 a listener that was removed can be collected", async () => {
  const { signal, abort } = signalOf()
  const seen: Array<string> = []
  signal.addEventListener("abort", () => seen.push("kept"))
  const removed = ((): ReadonlyArray<WeakRef<() => void>> =>
    Array.from({ length: 100 }, (_, index) => {
      const listener = () => void seen.push(`removed ${index}`)
      signal.addEventListener("abort", listener)
      signal.removeEventListener("abort", listener)
      return new WeakRef(listener)
    }))()
  await hop()
  globalThis.gc?.()
  expect(removed.filter((listener) => listener.deref() !== undefined).length).toBeLessThan(5)
  abort()
  expect(seen).toEqual(["kept"])
})

test("ABORT2 what is no listener is the platform's to take or refuse", () => {
  const { signal } = signalOf()
  signal.addEventListener("abort", null as unknown as () => void)
  expect(() => signal.addEventListener("abort", 7 as unknown as () => void)).toThrow(TypeError)
})

test("ABORT2 a guarded signal is an AbortSignal for fetch, AbortSignal.any and instanceof", async () => {
  const { signal, abort } = signalOf()
  const any = AbortSignal.any([signal, new AbortController().signal])
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  server.on("request", abort)
  const failed = fetch(`http://127.0.0.1:${port}`, { signal }).catch((error: unknown) => (error as Error).name)
  expect(await failed).toBe("AbortError")
  server.close()
  server.closeAllConnections()
  expect(signal).toBeInstanceOf(AbortSignal)
  expect([signal.aborted, any.aborted]).toEqual([true, true])
  expect(() => signal.throwIfAborted()).toThrow("aborted")
})
