/** Sign-ins by OAuth at a real authorization server, as waits of calls. */
import { Fake, Troupe } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { Observation } from "@troupe/chat/observe"
import { Process, System } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import { afterEach, expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { oauthServer, signedInAt } from "../double/oauthServer.ts"

const ends: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const shop = async () => {
  const server = await oauthServer()
  ends.push(server.close)
  return server
}

const storage = (): Mcp.SignInStorage => {
  const texts = new Map<string, string | undefined>()
  return { load: async (key) => texts.get(key), save: async (key, text) => void texts.set(key, text) }
}

const redirectUrl = "http://localhost:1/callback"

/** A Troupe with the tools of the server. An input names the tool that the model calls. */
const begin = async (
  url: string,
  kept: Mcp.SignIn["storage"],
  store: Store.SessionStore,
  request: typeof fetch = fetch
) => {
  const reports: Array<unknown> = []
  const note = (report: unknown): void => void reports.push(report)
  const system = System.make({ logger: note, onCrash: note })
  const mcp = await Mcp.start(system, { url, fetch: request, auth: { redirectUrl, storage: kept } }, { name: "shop" })
  let calls = 0
  const adapter = Fake.make({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      return last?.role === "user"
        ? [{ toolCall: { id: `c${++calls}`, name: Message.text(last) } }, { finish: "tool_calls" }]
        : [{ text: "Done." }, { finish: "stop" }]
    }
  })
  const troupe = await Troupe.start({ system, adapter, tools: mcp.tools, store })
  const end = async () => {
    await troupe.stop()
    await System.stop(system)
  }
  ends.push(end)
  return { mcp, adapter, troupe, chat: await troupe.chat("anna"), reports, end }
}

const page = async (troupe: Awaited<ReturnType<typeof begin>>["troupe"]) => {
  const [wait] = (await troupe.waiting()).waits
  return { address: wait?.toolCallId ?? "", wait, url: wait?.options?.["url"] }
}

const answer = (value: unknown) => ({ type: "result", value }) as const

const resultIn = ({ thread }: { readonly thread: { readonly messages: ReadonlyArray<object> } }) =>
  thread.messages.findLast((message) => "role" in message && message.role === "tool")

test("SIGNIN5. a server that needs a sign-in asks by a tool, over a restart, and has its tools from the next request on", async () => {
  const server = await shop()
  const [kept, store] = [storage(), Store.memory()]
  const first = await begin(server.url, kept, store)
  expect(first.mcp.health).toMatchObject({
    status: "waiting",
    failedStarts: 0,
    signIn: expect.stringContaining("/authorize")
  })
  expect(first.mcp.tools.map(({ name }) => name)).toEqual(["sign_in"])
  await first.chat.send("sign_in").result()
  const { wait, url } = await page(first.troupe)
  expect(wait).toMatchObject({ kind: "question", text: "Sign in to use shop", options: { server: "shop" } })
  const returned = await signedInAt(url)
  await first.end()
  const { mcp, adapter, troupe, chat } = await begin(server.url, kept, store)
  const done = await chat.approve((await page(troupe)).address, answer(returned)).result()
  expect(resultIn(done)).toMatchObject({ outcome: "completed" })
  expect(mcp.health).toEqual({ status: "connected", failedStarts: 0 })
  expect(adapter.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(["look", "buy"])
  expect(resultIn(await chat.send("look").result())).toMatchObject({ content: "42 books" })
  expect(server.registered()).toBe(1)
  expect(server.grants).toEqual(["code read"])
})

test("SIGNIN4. a call waits for more scopes, and for a new sign-in; a refresh needs none", async () => {
  const server = await shop()
  const kept = storage()
  const { mcp, troupe, chat } = await begin(server.url, kept, Store.memory())
  await mcp.signIn(await signedInAt(mcp.health.signIn))
  await chat.send("buy").result()
  const bought = await chat
    .approve((await page(troupe)).address, answer(await signedInAt((await page(troupe)).url)))
    .result()
  expect(resultIn(bought)).toMatchObject({ content: "bought" })
  server.expire()
  expect(resultIn(await chat.send("look").result())).toMatchObject({ content: "42 books" })
  expect(server.grants).toEqual(["code read", "code read write", "refresh read write"])
  server.expire(true)
  await chat.send("look").result()
  const { address, url } = await page(troupe)
  await mcp.signIn(await signedInAt(url))
  expect(resultIn(await chat.approve(address, answer("I have signed in")).result())).toMatchObject({
    content: "42 books"
  })
})

test("SIGNIN1. an answer with the state of another request fails the call, and a denial fails it too", async () => {
  const server = await shop()
  const { troupe, chat } = await begin(server.url, storage(), Store.memory())
  await chat.send("sign_in").result()
  const wrong = `${redirectUrl}?code=c&state=other`
  const failed = await chat.approve((await page(troupe)).address, answer(wrong)).result()
  expect(resultIn(failed)).toMatchObject({
    outcome: "failed",
    content: expect.stringContaining("state of another request")
  })
  await chat.send("sign_in").result()
  const denied = await chat.approve((await page(troupe)).address, { type: "deny" }).result()
  expect(resultIn(denied)).toMatchObject({ outcome: "failed", content: expect.stringContaining("did not sign in") })
  expect(server.grants).toEqual([])
})

test("MCPH6. a server connects when another program has signed in", async () => {
  const server = await shop()
  const kept = storage()
  const [one, other] = [await begin(server.url, kept, Store.memory()), await begin(server.url, kept, Store.memory())]
  await one.mcp.signIn(await signedInAt(one.mcp.health.signIn))
  await expect.poll(() => other.mcp.health.status, { timeout: 20_000 }).toBe("connected")
}, 30_000)

test("MCPH7. a sign-in whose server's process ends meanwhile is rejected, and one after that only stores the tokens", async () => {
  const server = await shop()
  const connecting = Promise.withResolvers<void>()
  let isHeld = false
  const request: typeof fetch = (input, init) => {
    if (!isHeld || new Request(input).url !== server.url) return fetch(input, init)
    connecting.resolve()
    return new Promise(() => {})
  }
  const { mcp } = await begin(server.url, storage(), Store.memory(), request)
  await expect(mcp.signIn("I have signed in")).rejects.toMatchObject({ reason: "sign_in_required" })
  const returned = await signedInAt(mcp.health.signIn)
  isHeld = true
  const signing = mcp.signIn(returned)
  signing.catch(() => {})
  await connecting.promise
  if (mcp.pid !== undefined) Process.kill(mcp.pid)
  await expect(signing).rejects.toMatchObject({ reason: "not_connected" })
  await mcp.signIn("I have signed in")
})

const stores = { memory: () => Store.memory(), SQLite: () => sqlite(":memory:") }

test.each(Object.keys(stores) as ReadonlyArray<keyof typeof stores>)(
  "SIGNIN6. tokens are secrets of their owner in a store in %s, in nothing else, and can be deleted",
  async (name) => {
    const [server, other] = [await shop(), await shop()]
    const store = stores[name]()
    ends.push(async () => store.close())
    const of = (owner: string) => ({ store, owner })
    const anna = await begin(server.url, of("anna"), store)
    const { tree, process, timeline } = Observation.make(anna.troupe)
    const watched = [tree, process(String(anna.mcp.pid)), process(String(anna.chat.pid)), timeline("anna")]
    for (const one of watched) {
      const leave = one.subscribe(() => {})
      ends.push(async () => leave())
    }
    await anna.mcp.signIn(await signedInAt(anna.mcp.health.signIn))
    await anna.chat.send("buy").result()
    const asked = await page(anna.troupe)
    await anna.chat.approve(asked.address, answer(await signedInAt(asked.url))).result()
    server.expire()
    expect(resultIn(await anna.chat.send("look").result())).toMatchObject({ content: "42 books" })
    const again = await begin(server.url, of("anna"), Store.memory())
    expect(again.mcp.health.status).toBe("connected")
    const [bob, elsewhere] = [
      await begin(server.url, of("bob"), Store.memory()),
      await begin(other.url, of("anna"), Store.memory())
    ]
    expect([bob.mcp.health.status, elsewhere.mcp.health.status]).toEqual(["waiting", "waiting"])

    const seen = JSON.stringify([
      await store.history("anna", { limit: 1_000 }),
      await store.load("anna"),
      await anna.chat.view(),
      watched.map(({ getState }) => getState()),
      anna.mcp.health,
      anna.reports,
      anna.adapter.requests
    ])
    expect(seen).toContain("42 books")
    expect(server.tokens.filter((token) => seen.includes(token))).toEqual([])
    expect(server.tokens).toHaveLength(6)

    await store.secrets?.delete("anna")
    await anna.chat.send("look").result()
    expect((await page(anna.troupe)).wait).toMatchObject({ kind: "question", options: { server: "shop" } })
  }
)

test("SIGNIN6. a store without secrets is refused at once", async () => {
  const auth = { redirectUrl, storage: { store: {}, owner: "anna" } }
  const system = System.make({ silent: true })
  await expect(Mcp.start(system, { url: "http://localhost:1/mcp", auth })).rejects.toThrow("keeps no secrets")
  await System.stop(system)
})
