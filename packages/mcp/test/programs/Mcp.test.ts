import { runToolCalls, type Tool } from "@troupe/chat/tools"
import { Process, Supervisor, System } from "@troupe/otp"
import { getEventListeners } from "node:events"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"
import { mcpHttpServer } from "../double/mcpHttpServer.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})
afterEach(() => System.stop(system))

const own = (...args: ReadonlyArray<string>): Mcp.McpServerParams => ({
  command: process.execPath,
  args: [fileURLToPath(new URL("../double/stdioServer.ts", import.meta.url)), ...args]
})

const osPid = async (server: Pick<Mcp.McpServer, "tools">): Promise<number> => {
  const result = await call(server, "pid")
  return result.type === "ok" ? Number(result.value) : Number.NaN
}

const runs = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const ended = (server: Mcp.McpServer): Promise<unknown> =>
  new Promise((resolve) => {
    if (server.pid === undefined) throw new Error("not started")
    Process.onExit(server.pid, resolve)
  })

const names = (tools: ReadonlyArray<Tool.Tool>): ReadonlyArray<string> => tools.map((tool) => tool.name)

describe("the official filesystem server", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "mcp-")))
  const main = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"))
  const files: Mcp.McpServerParams = { command: process.execPath, args: [main, folder] }

  test("offers its tools with their schemas, and runs them", async () => {
    writeFileSync(join(folder, "note.txt"), "remember the milk")
    const server = await Mcp.start(system, files, { name: "files", prefix: "fs_" })
    const read = server.tools.find((tool) => tool.name === "fs_read_text_file")
    expect(read).toMatchObject({
      schema: { type: "object", required: ["path"] },
      metadata: { mcp: { server: "files" } }
    })
    expect(await read?.parse({})).toMatchObject({ valid: false })
    const done = await call(server, "fs_read_text_file", { path: join(folder, "note.txt") })
    expect(JSON.stringify(done)).toContain("remember the milk")
    const refused = await call(server, "fs_read_text_file", { path: "/etc/hostname" })
    expect(refused).toMatchObject({ type: "error" })
    await server.stop()
    rmSync(folder, { recursive: true })
  })
})

describe("MCPH1. the server's OS process", () => {
  test("MCPC1, MCPC2. is closed once by several stops, and its end is no loss", async () => {
    const server = await Mcp.start(system, own())
    const pid = await osPid(server)
    const end = ended(server)
    await Promise.all([server.stop(), server.stop()])
    expect(await end).toBe("shutdown")
    expect(server.health).toMatchObject({ status: "stopped", failedStarts: 0 })
    expect(runs(pid)).toBe(false)
  })

  test("ends with stop, and with it everything is gone", async () => {
    const server = await Mcp.start(system, own())
    const pid = await osPid(server)
    expect(runs(pid)).toBe(true)
    await server.stop()
    expect(runs(pid)).toBe(false)
    await System.stop(system)
    expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
  })

  test("ends with its owner, even when the owner is killed", async () => {
    const owner = Process.spawn(system, () => new Promise(() => {}))
    const server = await Mcp.start(owner, own())
    const pid = await osPid(server)
    const end = ended(server)
    Process.kill(owner)
    await end
    await System.stop(system)
    expect(runs(pid)).toBe(false)
  })

  test("ends when its own process is killed", async () => {
    const server = await Mcp.start(system, own())
    const pid = await osPid(server)
    if (server.pid !== undefined) Process.kill(server.pid)
    await System.stop(system)
    expect(runs(pid)).toBe(false)
  })

  test("is killed when it ignores a closed input and SIGTERM", async () => {
    const server = await Mcp.start(system, own("stubborn"))
    const pid = await osPid(server)
    await server.stop()
    // The system reports the end of a killed process when it has the time.
    await expect.poll(() => runs(pid), { timeout: 10_000 }).toBe(false)
  })
})

describe("MCPH2. the end of the server", () => {
  test("after the last start is the exit reason of its process, with what the server complained about", async () => {
    const server = await Mcp.start(system, own(), { name: "fragile", restarts: { maxStarts: 1 } })
    const end = ended(server)
    const broken = await call(server, "crash")
    const message = expect.stringContaining("may have had an effect") as string
    expect(broken).toMatchObject({ type: "error", reason: { reason: "outcome_unknown", message } })
    expect(await end).toMatchObject({ _tag: "McpError", reason: "connection_lost", server: "fragile" })
    expect(String(await end)).toContain("about to crash")
    expect(await call(server, "pid")).toMatchObject({ type: "error" })
  })

  test("MCPH4. is repaired by a supervisor, which hosts the connection that was opened ahead once, and the same tools work again", async () => {
    const listings: Array<number> = []
    const back = Promise.withResolvers<void>()
    const server = await Mcp.connect(own(), {
      onTools: (tools) => {
        if (listings.push(tools.length) === 2) back.resolve()
      }
    })
    const { tools } = server
    const first = await osPid(server)
    expect(server.pid).toBeUndefined()
    const supervisor = await Supervisor.start(system, { strategy: "oneForOne", children: [server.childSpec] })
    expect(await osPid({ tools })).toBe(first)
    await call({ tools }, "crash")
    await back.promise
    const second = await osPid({ tools })
    expect(second).not.toBe(first)
    await Supervisor.stop(supervisor)
    expect([runs(first), runs(second)]).toEqual([false, false])
  })
})

describe("a server that cannot be started", () => {
  test("rejects with why, and leaves nothing", async () => {
    const error: unknown = await Mcp.start(system, own("broken"), { name: "broken" }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ _tag: "McpError", reason: "connection_failed", server: "broken" })
    expect(String(error)).toContain("no such folder")
    await expect(Mcp.start(system, { command: "/no/such/program" })).rejects.toMatchObject({
      reason: "connection_failed"
    })
    await expect(Mcp.connect({ command: "/no/such/program" })).rejects.toMatchObject({ reason: "connection_failed" })
    expect([...System.processes(system)]).toEqual([])
  })

  test("that was connected to and never hosted is closed by stop", async () => {
    const server = await Mcp.connect(own())
    const pid = await osPid(server)
    await server.stop()
    expect(runs(pid)).toBe(false)
  })
})

describe("tools", () => {
  test("reads a tool that the server marks as read-only as a read, and others as a write", async () => {
    const { tools } = await Mcp.start(system, own())
    expect(tools.map(({ name, effect }) => `${name} ${effect}`)).toEqual(
      expect.arrayContaining(["pid read", "slow write"]) as Array<string>
    )
  })

  test("are listed to the last page, with names models accept that stay different", async () => {
    const { tools } = await Mcp.start(system, own(), { prefix: "own_" })
    expect(names(tools)).toEqual([
      "own_pid",
      "own_slow",
      "own_picture",
      "own_failing",
      "own_structured",
      "own_needs_dots_80a29010",
      "own_needs_dots_855a1fd2",
      "own_crash",
      "own_gallery",
      "own_report",
      "own_blurred"
    ])
    expect(await call({ tools }, "own_needs_dots_855a1fd2")).toMatchObject({ type: "ok", value: "needs dots" })
  })

  test("answer with text, structure, pictures as data, and reported failures", async () => {
    const server = await Mcp.start(system, own())
    expect(await call(server, "structured")).toMatchObject({ type: "ok", value: { sum: 3 } })
    expect(await call(server, "failing")).toMatchObject({ type: "error", reason: "it broke" })
    expect(await call(server, "picture")).toMatchObject({
      type: "ok",
      value: [
        { type: "text", text: "look" },
        { type: "image", image: { base64: "AA==", mediaType: "image/png" } }
      ]
    })
  })

  test("MCPR1 answer with images, audio and files as parts, in the order of the server", async () => {
    const http = await mcpHttpServer()
    const server = await Mcp.start(system, { url: http.url })
    expect(await call(server, "gallery")).toEqual({
      type: "ok",
      value: [
        { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" } },
        { type: "file", file: { base64: "UklGRg==" }, mediaType: "audio/wav" },
        { type: "text", text: "a note" },
        { type: "file", file: { base64: "JVBE" }, mediaType: "application/pdf", filename: "a.pdf" },
        { type: "image", image: { base64: "AAAA", mediaType: "image/png" } },
        {
          type: "json",
          value: { type: "resource_link", uri: "file:///notes/b.txt", name: "b", mimeType: "text/plain" }
        }
      ]
    })
    const toolCall = { id: "c", name: "gallery", arguments: {} }
    const { messages } = await runToolCalls([toolCall], server.tools)
    expect(messages[0]?.content).toMatchObject([
      { type: "image" },
      { type: "file" },
      { type: "text" },
      { type: "file" },
      { type: "image" },
      { type: "text", text: '{"type":"resource_link","uri":"file:///notes/b.txt","name":"b","mimeType":"text/plain"}' }
    ])
    await server.stop()
    await http.stop()
  })

  test("MCPR2 answer with the structure and the image, without the text that repeats the structure", async () => {
    const server = await Mcp.start(system, own())
    expect(await call(server, "report")).toMatchObject({
      type: "ok",
      value: [{ type: "json", value: { sum: 3 } }, { type: "text", text: "see the chart" }, { type: "image" }]
    })
  })

  test("MCPR1 report a failure with its image", async () => {
    const server = await Mcp.start(system, own())
    expect(await call(server, "blurred")).toMatchObject({
      type: "error",
      reason: [{ type: "text", text: "no such window" }, { type: "image" }]
    })
    const { messages } = await runToolCalls([{ id: "c", name: "blurred", arguments: {} }], server.tools)
    expect(messages).toMatchObject([
      {
        outcome: "failed",
        content: [{ type: "text", text: '{"error":"no such window\\n[image image/png, 3 B]"}' }, { type: "image" }]
      }
    ])
  })
})

describe("a server over streamable HTTP", () => {
  test("gets its headers, runs tools, and its session is ended by stop", async () => {
    const http = await mcpHttpServer()
    const server = await Mcp.start(system, { url: http.url, headers: { "x-own": "yes" } })
    expect(await osPid(server)).toBe(process.pid)
    expect(new Set(http.headers)).toEqual(new Set(["yes"]))
    await server.stop()
    await http.ended
    await http.stop()
  })

  test("MCPC3. learns that a call was cancelled, and the signal keeps no listener", async () => {
    const http = await mcpHttpServer()
    const server = await Mcp.start(system, { url: http.url })
    const stop = new AbortController()
    await call(server, "structured", {}, stop)
    expect(getEventListeners(stop.signal, "abort")).toEqual([])
    const answer = call(server, "slow", {}, stop)
    await http.called("slow")
    stop.abort()
    await expect(answer).rejects.toThrow()
    expect(getEventListeners(stop.signal, "abort")).toEqual([])
    expect(await http.own.cancelled).toBe("slow")
    await server.stop()
    await http.stop()
  })

  test("notifies when its tools change", async () => {
    const http = await mcpHttpServer()
    const changed = Promise.withResolvers<ReadonlyArray<Tool.Tool>>()
    let listings = 0
    const server = await Mcp.start(
      system,
      { url: http.url },
      { onTools: (tools) => (++listings === 2 ? changed.resolve(tools) : undefined) }
    )
    await http.own.add("another")
    expect(names(await changed.promise)).toContain("another")
    expect(await call(server, "another")).toMatchObject({ type: "ok", value: "another" })
    await server.stop()
    await http.stop()
  })

  test("that forgot the session ends its process", async () => {
    const http = await mcpHttpServer()
    const server = await Mcp.start(system, { url: http.url }, { restarts: { maxStarts: 1 } })
    const end = ended(server)
    http.forget()
    expect(await call(server, "pid")).toMatchObject({ type: "error" })
    expect(await end).toMatchObject({ _tag: "McpError", reason: "connection_lost" })
    await http.stop()
  })
})
