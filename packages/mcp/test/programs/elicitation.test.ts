import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { oauthServer, signedInAt } from "../double/oauthServer.ts"

interface Report {
  readonly waits: ReadonlyArray<{
    readonly kind: string
    readonly toolCallId: string
    readonly options?: { readonly url?: string }
  }>
  readonly results: ReadonlyArray<string>
}

const bookshop = fileURLToPath(new URL("../double/bookshopChat.ts", import.meta.url))
const behindSignIn = fileURLToPath(new URL("../double/signInChat.ts", import.meta.url))

/** A program on a database and a file of sales, which can be killed. */
const shopping = (folder: string, protocol: "older" | "newer") => {
  const sales = join(folder, "sales.txt")
  writeFileSync(sales, "")
  return {
    start: starting(bookshop, [join(folder, "chats.db"), sales, protocol]),
    sold: () => readFileSync(sales, "utf8"),
    server: () => Number(readFileSync(`${sales}.pid`, "utf8"))
  }
}

/** Starts a program that can be killed. */
const starting = (program: string, args: ReadonlyArray<string>) => async () => {
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const ended = new Promise((resolve) => child.once("close", resolve))
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL")
    await ended
  }
  onTestFinished(kill)
  if (child.stdout === null || child.stdin === null) throw new Error("the program has no streams")
  const { stdin } = child
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const report = async () => JSON.parse(String((await lines.next()).value)) as Report
  const first = await report()
  const command = async (given: object): Promise<Report> => {
    stdin.write(`${JSON.stringify(given)}\n`)
    return report()
  }
  return { first, command, kill }
}

const answer = (id: string | undefined, count: number) => ({ id, decision: { type: "result", value: { count } } })

test("ELICIT2. a form of a server of the newer protocol is listed and answered after a kill -9, and the call runs once", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "troupe-mcp-"))
  const { start, sold } = shopping(folder.path, "newer")
  const before = await start()
  const asked = await before.command({ say: "Order books" })
  expect(asked.waits).toMatchObject([{ kind: "question", options: { server: "bookshop" } }])
  await before.kill()
  const { first, command } = await start()
  expect(first.waits).toEqual(asked.waits)
  const done = await command(answer(first.waits[0]?.toolCallId, 3))
  expect(done).toMatchObject({ waits: [], results: ["sold 3"] })
  expect(sold()).toBe("3\n")
}, 180_000)

test("ELICIT2. the call of a server of the older protocol that died with a kill -9 has an unknown outcome, and runs again when a person says so", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "troupe-mcp-"))
  const { start, sold } = shopping(folder.path, "older")
  const before = await start()
  await before.command({ say: "Order books" })
  await before.kill()
  const { first, command } = await start()
  const unknown = await command(answer(first.waits[0]?.toolCallId, 3))
  expect(unknown.waits).toMatchObject([{ kind: "unknown_outcome", toolCallId: "c1" }])
  expect(sold()).toBe("")
  const again = await command({ id: "c1", decision: { type: "allow" } })
  const done = await command(answer(again.waits[0]?.toolCallId, 2))
  expect(done).toMatchObject({ waits: [], results: ["sold 2"] })
  expect(sold()).toBe("2\n")
}, 180_000)

test.each([
  ["newer", [], ["sold 3"]],
  ["older", [{ kind: "unknown_outcome", toolCallId: "c1" }], []]
] as const)(
  "MCPH8, ELICIT2. a server of the %s protocol that is killed with -9 while it asks starts again, and then gets the answer or leaves an unknown outcome",
  async (protocol, waits, results) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "troupe-mcp-"))
    const { start, sold, server } = shopping(folder.path, protocol)
    const { command } = await start()
    const asked = await command({ say: "Order books" })
    const before = server()
    process.kill(before, "SIGKILL")
    await expect.poll(server, { timeout: 60_000 }).not.toBe(before)
    const after = await command(answer(asked.waits[0]?.toolCallId, 3))
    expect(after).toMatchObject({ waits, results })
    expect(sold()).toBe(results.length === 0 ? "" : "3\n")
  },
  180_000
)

test("SIGNIN5, SIGNIN6. a sign-in is listed and answered after a kill -9, and so are further scopes of a call", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "troupe-mcp-"))
  const server = await oauthServer()
  onTestFinished(server.close)
  const start = starting(behindSignIn, [join(folder.path, "chats.db"), server.url])
  let { first, command, kill } = await start()
  for (const [input, result] of [
    ["sign_in", "has signed in"],
    ["buy", "bought"]
  ] as const) {
    const asked = await command({ say: input })
    const [wait] = asked.waits
    const value = await signedInAt(wait?.options?.url)
    await kill()
    ;({ first, command, kill } = await start())
    expect(first.waits).toEqual(asked.waits)
    const done = await command({ id: wait?.toolCallId, decision: { type: "result", value } })
    expect(done).toMatchObject({ waits: [] })
    expect(done.results.at(-1)).toContain(result)
  }
  expect(server.grants).toEqual(["code read", "code read write"])
}, 180_000)
