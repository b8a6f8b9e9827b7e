import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Fake, Troupe } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { sqlite } from "@troupe/store"
import { expect, onTestFinished, test } from "vitest"

const text = "x".repeat(95_000)

/** How many of these messages wait in a chat by default, within 2,097,152 bytes. */
const waiting = 22

/** A server over SQLite whose model answers everything but "Stay busy". */
const serving = async () => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-inbox-"))
  const store = sqlite(join(folder, "chats.db"))
  const adapter = Fake.make({
    respond: ({ messages }) => {
      const asked = messages.at(-1)
      return asked !== undefined && Message.text(asked) === "Stay busy"
        ? [{ hang: true }]
        : [{ text: "Yes." }, { finish: "stop" }]
    }
  })
  const troupe = await Troupe.start({ adapter, store })
  const server = Server.make({
    troupe,
    authorize: ({ headers }) => ({ owner: headers.get("authorization") ?? "nobody" })
  })
  // No connection is closed because the machine is slow.
  const patience = { headersMs: 600_000, requestMs: 600_000, keepAliveMs: 600_000 }
  const { url, close } = await listen(server, { graceMs: 1_000, ...patience })
  onTestFinished(async () => {
    await close()
    await troupe.stop()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const bytes = () => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  return { troupe, store, url, bytes }
}

/**
 * A program that keeps conversations busy and then sends so many messages to them at once. With the first answer another owner
 * says one line. It prints a line before and after that turn, and at the end what each message was answered.
 */
const attacker = `
  const [url, chats, count] = process.argv.slice(1)
  const say = async (owner, path, input) => {
    const headers = { "content-type": "application/json", authorization: owner }
    const response = await fetch(url + "/chats/" + path, { method: "POST", headers, body: JSON.stringify({ input }) })
    const { error, result } = await response.json()
    return [response.status, error?.code ?? result?.haltedReason ?? "accepted"].join(" ")
  }
  for (let at = 0; at < chats; at++) await say("anna", "c" + at + "/messages", "Stay busy")
  const input = "x".repeat(95_000)
  const sent = Array.from({ length: Number(count) }, (_, at) => say("anna", "c" + (at % chats) + "/messages", input))
  await Promise.race(sent)
  console.log("begun")
  console.log(await say("bert", "d/messages?wait", "One line"))
  console.log(JSON.stringify(await Promise.all(sent)))
`

/** The lines of the attack, from a process of its own. */
const attack = (url: string, chats: number, count: number): AsyncIterator<string, undefined> => {
  const argv = ["--input-type=module", "-e", attacker, url, String(chats), String(count)]
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] })
  return createInterface(child.stdout)[Symbol.asyncIterator]()
}

/** Milliseconds of the processor that this process has had: other programs on the machine do not count. */
const processorMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

test.each([1, 10])(
  "INBOX1. 250 messages of 95 kB to %d busy chats leave another owner's turn under a second and the database under 100 MB",
  { timeout: 120_000 },
  async (chats) => {
    const { troupe, store, url, bytes } = await serving()
    const lines = attack(url, chats, 250)
    await lines.next()
    const began = processorMs()
    const other = await lines.next()
    const took = processorMs() - began
    expect(other.value).toBe("200 completed")
    expect(took).toBeLessThan(1_000)
    const all = JSON.parse((await lines.next()).value ?? "[]") as ReadonlyArray<string>
    expect(new Set(all)).toEqual(new Set(["202 accepted", "429 inbox_full"]))
    expect(all.filter((answer) => answer === "202 accepted")).toHaveLength(waiting * chats)
    expect(bytes()).toBeLessThan(100_000_000)
    // What was accepted runs.
    for (let at = 0; at < chats; at++) {
      const id = `anna/c${at}`
      const chat = await troupe.chat(id)
      const over = new Promise<void>((resolve) => {
        chat.subscribe(({ context }) => {
          if (context.phase === "idle" && context.inbox.length === 0) resolve()
        })
      })
      await chat.cancel()
      await over
      const said = (await store.load(id))?.thread.messages.filter(({ role }) => role === "user").map(Message.text)
      expect(said).toEqual(["Stay busy", ...Array.from({ length: waiting }, () => text)])
    }
    expect(bytes()).toBeLessThan(100_000_000)
  }
)
