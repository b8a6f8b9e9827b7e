/** The command `pnpm cluster` as a process of its own. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Message } from "@troupe/chat/messages"
import type { ChatLink } from "@troupe/server"
import { connect } from "@troupe/server/Client"
import { afterEach, expect, test } from "vitest"
import type { ClusterStatus, NodeStatus } from "../../src/control/index.ts"

/** How long a step of a test may take, in milliseconds: the processes share the machine with the other tests. */
const patience = { timeout: 120_000 }
const longer = { timeout: 240_000 }

const ends: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Starts the command with a folder for temporary files of its own. */
const run = async () => {
  const folder = await mkdtemp(join(tmpdir(), "troupe-command-"))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  // The user of PostgreSQL writes there too.
  await chmod(folder, 0o777)
  const program = join(import.meta.dirname, "../../src/cluster/main.ts")
  const child = spawn(process.execPath, [program, "--no-open"], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const exited = once(child, "exit")
  ends.push(async () => {
    child.kill("SIGKILL")
    await exited
  })
  const lines: Array<string> = []
  const output = createInterface({ input: child.stdout })
  output.on("line", (line) => lines.push(line.trim()))
  /** Resolves with the address in a line. */
  const address = async (label: string): Promise<string> => {
    const found = (): string | undefined => lines.find((line) => line.startsWith(label))?.slice(label.length)
    while (found() === undefined && child.exitCode === null) await Promise.race([once(output, "line"), exited])
    return found() ?? expect.unreachable(`the command has ended: ${lines.join("\n")}`)
  }
  return { child, exited, folder, lines, address }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test(
  "the command starts a cluster whose chats continue after a home is killed, and SIGTERM leaves nothing of it",
  longer,
  async () => {
    const { child, exited, folder, lines, address } = await run()
    const url = await address("The page: ")
    const control = (await address("Its buttons: ")).replace(/\/nodes$/u, "")
    const nodes = async (): Promise<ReadonlyArray<NodeStatus>> => {
      const status = (await (await fetch(`${control}/nodes`)).json()) as ClusterStatus
      return status.nodes
    }
    expect((await nodes()).map(({ number, role, state }) => [number, role, state])).toEqual([
      [0, "gateway", "running"],
      [1, "home", "running"],
      [2, "home", "running"],
      [3, "home", "running"]
    ])
    expect(lines).toContain(`The API: ${url}/troupe`)
    const page = await (await fetch(url)).text()
    expect(page).toContain(`<meta name="troupe-control" content="${control}" />`)

    const chat = connect({ url: `${url}/troupe` }).chat("c1")
    const leave = chat.subscribe(() => {})
    ends.push(async () => leave())
    const view = () => chat.getState().view
    const homeOf = async () => {
      const answer = await fetch(`${url}/troupe/observer/nodes?chat=c1`)
      const observed = (await answer.json()) as { readonly nodes: ReadonlyArray<ChatLink.NodeStatus> }
      const home = observed.nodes.find(({ hasChat }) => hasChat)?.node
      return (await nodes()).find(({ address: own }) => own === home)?.number
    }
    await chat.send("Tell me a long story")
    await expect.poll(() => view().partial.text, patience).toContain("Once there was")
    await expect.poll(homeOf, patience).toBeDefined()
    const home = await homeOf()
    expect((await fetch(`${control}/nodes/${home}/kill`, { method: "POST" })).status).toBe(202)
    await expect.poll(() => view().messages.map(({ role }) => role), patience).toEqual(["user", "assistant"])
    const told = expect.stringMatching(/^Once there was .* somebody is expected\.$/su)
    expect(view().messages.map(Message.text)).toEqual(["Tell me a long story", told])
    expect(lines).toContain(`Home ${home} is dead.`)
    expect(await homeOf()).not.toBe(home)

    const foreign = { method: "POST", headers: { origin: "https://example.com" } }
    expect((await fetch(`${control}/nodes`, foreign)).status).toBe(403)
    const again = await fetch(`${control}/nodes/${home}/kill`, { method: "POST" })
    expect([again.status, await again.json()]).toEqual([409, { error: `Home ${home} has ended.` }])

    const pids = (await nodes()).flatMap(({ pid }) => pid ?? [])
    expect(pids.filter(isRunning)).toHaveLength(3)
    leave()
    expect(lines).toContain(`No terminal, no keys: kill ${child.pid} ends it`)
    child.kill("SIGTERM")
    expect(await exited).toEqual([0, null])
    expect(pids.filter(isRunning)).toEqual([])
    expect(await readdir(folder)).toEqual([])
  }
)

test("a signal during the start ends the command, and leaves nothing of it", longer, async () => {
  const { child, exited, folder, lines, address } = await run()
  await address("Starting PostgreSQL")
  child.kill("SIGINT")
  expect(await exited).toEqual([0, null])
  expect(lines.filter((line) => line.startsWith("The page"))).toEqual([])
  expect(await readdir(folder)).toEqual([])
})

test("when the command is killed, its nodes and its database end by themselves", longer, async () => {
  const { child, exited, folder, address } = await run()
  const control = await address("Its buttons: ")
  const { nodes } = (await (await fetch(control)).json()) as ClusterStatus
  child.kill("SIGKILL")
  await exited
  const pids = nodes.flatMap(({ pid }) => pid ?? [])
  expect(pids).toHaveLength(4)
  await expect.poll(() => pids.filter(isRunning), patience).toEqual([])
  const databases = async () => (await readdir(folder)).filter((name) => name.startsWith("troupe-postgres"))
  await expect.poll(databases, patience).toEqual([])
})
