import { beforeAll, expect, test } from "vitest"
import { askAgUi, askAiSdk, askCompletion, askResponse } from "../../../server/test/double/realClients.ts"
import { type PostgresAddress, workerPostgres } from "../../../store/test/double/postgresServer.ts"
import { queries } from "../../../store/test/double/queries.ts"
import { post } from "../double/clusterNodes.ts"
import { deployment, pieces, warm } from "../double/deployed.ts"
import { freshSchema } from "../double/postgresTable.ts"

let server: PostgresAddress
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)

const reply = pieces.join("")

const ownWait = async (url: string, input: string): Promise<unknown> => {
  const answer = await post(`${url}/chats/c/messages?wait`, { input })
  const json = (await answer.json()) as { result?: { finalResponse?: { outputText: string } } }
  return json.result?.finalResponse?.outputText ?? json
}

const ownEvents = async (url: string, input: string): Promise<unknown> => {
  const answer = await post(`${url}/chats/c/messages`, { input }, { accept: "text/event-stream" })
  const frames = (await answer.text()).split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []))
  const { type, result } = JSON.parse(frames.at(-1) ?? "{}") as {
    readonly type?: string
    readonly result?: { finalResponse?: { outputText: string } }
  }
  return type === "chat_completed" ? result?.finalResponse?.outputText : frames.at(-1)
}

const whole =
  (path: string, bodyOf: (input: string) => object, textOf: (json: never) => unknown) =>
  async (url: string, input: string): Promise<unknown> => {
    const answer = await post(`${url}${path}`, bodyOf(input), { "x-troupe-chat": "c" })
    const json = (await answer.json()) as never
    return textOf(json) ?? json
  }

/** Each client, which reads one reply: its text, or what it got in its place. */
const clients: Readonly<Record<string, (url: string, input: string) => Promise<unknown>>> = {
  aiSdk: async (url, input) => {
    const { texts, errors } = await askAiSdk(url, input)
    return errors[0] ?? texts?.join("")
  },
  agUi: async (url, input) => {
    const { texts, errors } = await askAgUi(url, input)
    return errors[0] ?? texts.at(-1)
  },
  completion: async (url, input) => (await askCompletion(url, input)).text,
  response: async (url, input) => (await askResponse(url, input)).last,
  wholeCompletion: whole(
    "/v1/chat/completions",
    (content) => ({ model: "troupe", messages: [{ role: "user", content }] }),
    ({ choices }: { readonly choices?: ReadonlyArray<{ message: { content: string } }> }) =>
      choices?.[0]?.message.content
  ),
  wholeResponse: whole(
    "/v1/responses",
    (input) => ({ model: "troupe", input }),
    ({ output }: { readonly output?: ReadonlyArray<{ content?: ReadonlyArray<{ text: string }> }> }) =>
      output?.flatMap(({ content = [] }) => content.map(({ text }) => text)).join("")
  ),
  ownWait,
  ownEvents
}

const names = Object.keys(clients)

test(
  "FORWARD7, FORWARD8, FORWARD9, FORWARD10: no client has an error while a home and then its own node leave, and each payment is made once",
  { timeout: 180_000 },
  async () => {
    const schema = freshSchema()
    await queries(server.url, [`CREATE DATABASE ${schema}`])
    const database = new URL(server.url)
    database.pathname = `/${schema}`
    const { node: started } = deployment()
    const node = (role: "home" | "gateway") => started({ url: database.href, role, leaseMs: 10_000, clients: names })
    const homes = [await node("home"), await node("home")]
    const gateway = await node("gateway")
    // The nodes of a deploy have served before: a first request may take seconds on a busy machine.
    const chats = Array.from({ length: 16 }, (_, at) => `${gateway.base}/ownWait/chats/w${at}/messages?wait`)
    await Promise.all(chats.map((url) => post(url, { input: warm })))
    const asked = names.map(async (name) => [name, await clients[name]?.(`${gateway.base}/${name}`, name)])
    const payers = () => homes.flatMap((home) => home.payers)
    const replies = () => homes.flatMap((home) => home.replies)
    await expect.poll(() => replies().length, { timeout: 60_000, interval: 20 }).toBe(names.length)
    // The home with the most turns leaves, in the middle of their replies.
    const [leaving] = homes.toSorted((one, other) => other.replies.length - one.replies.length)
    expect(await leaving?.leave()).toBe(0)
    expect(await Promise.all(asked)).toEqual(names.map((name) => [name, reply]))
    expect(replies().length).toBeGreaterThan(names.length)

    const last = clients["ownEvents"]?.(`${gateway.base}/ownEvents`, "again")
    await expect.poll(() => payers().includes("again"), { timeout: 60_000, interval: 20 }).toBe(true)
    expect(await gateway.leave()).toBe(0)
    expect(await last).toBe(reply)
    expect(payers().toSorted()).toEqual([...names, "again"].toSorted())
  }
)
