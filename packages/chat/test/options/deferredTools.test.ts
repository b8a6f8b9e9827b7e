import { describe, expect, test } from "vitest"
import { Chat, Engine, Fake, tool, Troupe, user } from "../../src/index.ts"
import { toolTokens } from "../../src/compaction/estimate.ts"
import { text } from "../../src/model/Message.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import { catalogue, questions } from "../double/toolCatalogue.ts"

const call = (id: string, name: string, args: Record<string, unknown> = {}) => [
  { toolCall: { id, name, arguments: args } },
  { finish: "tool_calls" as const }
]
const said = (words: string) => [{ text: words }, { finish: "stop" as const }]
const declaredIn = ({ tools }: Request) => tools.map(({ name }) => name)
const ping = tool({ name: "ping", execute: () => "pong" })
const byServer = (group: string) => ({ group })

describe("deferred tools", () => {
  test("FIND1 a request has the found tools behind the others, in the order in which they were found", async () => {
    const adapter = Fake.make({
      scripts: [
        call("c1", "find_tools", { query: "create_invoice refund_charge" }),
        call("c2", "find_tools", { query: "lock_door refund_charge" }),
        call("c3", "refund_charge", { id: "p1" }),
        said("Refunded.")
      ]
    })
    const troupe = await Troupe.start({ adapter, tools: [...catalogue(byServer), ping] })
    const chat = await troupe.chat("c")
    const { thread } = await chat.send("Refund me").result()
    const requests = adapter.requests
    const declared = requests.map(declaredIn)
    expect(declared[0]).toEqual(["ping", "find_tools"])
    expect(declared[1]?.slice(0, 4)).toEqual(["ping", "find_tools", "create_invoice", "refund_charge"])
    expect(declared[2]).toContain("lock_door")
    for (const [at, tools] of declared.entries())
      expect(tools.slice(0, declared[at - 1]?.length)).toEqual(declared[at - 1] ?? tools)
    for (const [at, { tools }] of requests.entries()) {
      const before = JSON.stringify(requests[at - 1]?.tools ?? []).slice(0, -1)
      expect(JSON.stringify(tools).startsWith(before)).toBe(true)
    }
    expect(thread.messages.at(-2)).toMatchObject({ content: "did refund_charge", outcome: "completed" })
  })

  test("FIND2 a fork keeps what was found, and a rewind undoes it", async () => {
    const adapter = Fake.make({
      scripts: [
        said("Hi."),
        call("c1", "find_tools", { query: "lock_door" }),
        said("Found."),
        said("Forked."),
        said("Rewound.")
      ]
    })
    const troupe = await Troupe.start({ adapter, tools: catalogue(byServer) })
    const chat = await troupe.chat("c")
    await chat.send("Hi").result()
    await chat.send("Find").result()
    await (await troupe.fork("c", { id: "f" })).send("Go on").result()
    await troupe.rewind("c", 2)
    await chat.send("Again").result()
    const [, , , forked, rewound] = adapter.requests.map(declaredIn)
    expect(forked).toContain("lock_door")
    expect(rewound).toEqual(["find_tools"])
  })

  test("without a deferred tool no request has find_tools, and a tool of the program with this name is the search", async () => {
    const own = tool({ name: "find_tools", execute: () => "- lock_door: Lock a door" })
    const lock = catalogue(() => true).filter(({ name }) => name === "lock_door")
    const adapter = Fake.make({ scripts: [call("c1", "find_tools"), said("Found.")] })
    await Chat.run(Engine.make({ adapter, tools: [own, ...lock] }), [user("Find")])
    expect(adapter.requests.map(declaredIn)).toEqual([["find_tools"], ["find_tools", "lock_door"]])
    const plain = Fake.make({ scripts: [said("Hi.")] })
    await Chat.run(Engine.make({ adapter: plain, tools: [ping] }), [user("Hi")])
    expect(plain.requests.map(declaredIn)).toEqual([["ping"]])
  })

  test("a tool that the model must call is declared, and a deferred tool can be called before it was found", async () => {
    const adapter = Fake.make({ scripts: [call("c1", "lock_door", { id: "front" }), said("Locked.")] })
    const engine = Engine.make({ adapter, tools: catalogue(byServer) })
    const { thread } = await Chat.run(engine, [user("Lock")], { toolChoice: { name: "unlock_door" } })
    expect(adapter.requests.map(declaredIn)[0]).toEqual(["find_tools", "unlock_door"])
    expect(thread.messages[2]).toMatchObject({ content: "did lock_door" })
  })

  test("a wrong setting is refused with what to write", () => {
    expect(() => tool({ name: "a", deferred: "github" as never, execute: () => 1 })).toThrow(
      "must_be true, or { group }"
    )
  })
})

describe("a search among three hundred tools", () => {
  const found = async (queries: ReadonlyArray<string>): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
    const calls = queries.map((query, n) => ({ toolCall: { id: `c${n}`, name: "find_tools", arguments: { query } } }))
    const adapter = Fake.make({ scripts: [[...calls, { finish: "tool_calls" as const }], said("Done.")] })
    const engine = Engine.make({ adapter, tools: catalogue(byServer) })
    const { thread } = await Chat.run(engine, [user("Find")], { maxCallsPerReply: 200 })
    return thread.messages.flatMap((message) =>
      message.role === "tool" ? [[...text(message).matchAll(/^- ([\w-]+):/gm)].map(([, name]) => name ?? "")] : []
    )
  }

  test("FIND3 the wanted tool is among the first five for at least 90 of 100 questions, and no result has more than five", async () => {
    const results = await found(questions.map(({ query }) => query))
    const missed = questions.filter(({ wanted }, at) => results[at]?.includes(wanted) !== true)
    expect(results.every((names) => names.length <= 5)).toBe(true)
    expect(missed.map(({ query }) => query).slice(10)).toEqual([])
  })

  test("FIND3 tools whose names are in the query come first", async () => {
    const [names] = await found(["please get me lock_door and get_tides"])
    expect(names?.slice(0, 2)).toEqual(["lock_door", "get_tides"])
    expect(await found(["zzzzqqq"])).toEqual([[]])
  })

  test("FIND1 deferred, the declarations of a request have at most a fifteenth of the tokens, and after a search a twelfth", async () => {
    const declared = async (tools: ReadonlyArray<Tool>, query: string): Promise<ReadonlyArray<number>> => {
      const adapter = Fake.make({ scripts: [call("c1", "find_tools", { query }), said("Found.")] })
      await Chat.run(Engine.make({ adapter, tools }), [user("Hi")])
      return adapter.requests.map((request) => toolTokens(request.tools))
    }
    const own = tool({ name: "find_tools", execute: () => "" })
    const [all = 0] = await declared([own, ...catalogue(() => undefined)], "")
    const after: Array<number> = []
    let before = 0
    for (const { query } of questions) {
      const [first = 0, second = 0] = await declared(catalogue(byServer), query)
      before = first
      after.push(second)
    }
    expect(before * 15).toBeLessThan(all)
    expect(Math.max(...after) * 12).toBeLessThan(all)
  })
})
