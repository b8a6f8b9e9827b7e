/** What an owner may do, by each route and protocol that does it. */
import { askUser, Fake, tool } from "@troupe/chat"
import type { Permissions } from "@troupe/chat/tools"
import { describe, expect, test } from "vitest"
import { linked } from "../double/linked.ts"
import { codeOf, type Served, served } from "../double/served.ts"
import type { May } from "../../src/access/authorization.ts"

const pays = (): Fake.Fake =>
  Fake.make({
    scripts: [
      [{ toolCall: { id: "p1", name: "pay" } }, { finish: "tool_calls" }],
      [{ text: "Done." }, { finish: "stop" }],
      [{ text: "Again." }, { finish: "stop" }]
    ]
  })

/** A conversation that waits for a decision about a payment. */
const waiting = async (may?: May): Promise<Served & { readonly paid: ReadonlyArray<string> }> => {
  const paid: Array<string> = []
  const pay = tool({ name: "pay", execute: () => void paid.push("paid") })
  const server = await served(
    { adapter: pays(), tools: [pay], permissions: { mode: "default", ask: () => ({ type: "suspend" }) } },
    { authorize: () => ({ owner: "anna", may }) }
  )
  await server.ask("POST", "/chats/c/messages?wait", { input: "Pay" })
  return { ...server, paid }
}

const uiAnswer = (approved: boolean) => {
  const approval = { id: "p1", approved }
  const part = { type: "tool-pay", toolCallId: "p1", state: "approval-responded", input: {}, approval }
  return { id: "c", messages: [{ id: "m0.reply", role: "assistant", parts: [part] }] }
}

const agUiAnswer = (approved: boolean) => ({
  threadId: "c",
  runId: "r",
  messages: [],
  resume: [{ interruptId: "approval:p1", status: "resolved", payload: { approved } }]
})

const ways: ReadonlyArray<[string, string, (approved: boolean) => unknown]> = [
  ["the server's own route", "/chats/c/approvals/p1?wait", (approved) => ({ type: approved ? "allow" : "deny" })],
  ["the AI SDK's protocol", "/api/chat", uiAnswer],
  ["AG-UI", "/ag-ui", agUiAnswer]
]

const refused = async (response: Response, code = "forbidden"): Promise<string> => {
  expect(response.status).toBe(403)
  const { error } = (await response.json()) as { readonly error: { readonly code: string; readonly message: string } }
  expect(error.code).toBe(code)
  return error.message
}

describe("MAY1 an owner that may not approve", () => {
  test.each(ways)("allows no call by %s, and the call still waits", async (_, path, body) => {
    const { ask, paid, troupe } = await waiting()
    expect(await refused(await ask("POST", path, body(true)))).toMatch(/authorize.*may: \{ approve: true \}/u)
    const chat = await troupe.chat("anna/c")
    expect(chat.getSnapshot()?.context.pendingApprovals).toHaveLength(1)
    expect(paid).toEqual([])
  })

  test("gives no result in place of the call", async () => {
    const { ask } = await waiting()
    await refused(await ask("POST", "/chats/c/approvals/p1", { type: "result", value: "paid" }))
    expect(await codeOf(await ask("POST", "/chats/c/results", { results: { p1: "paid" } }))).toMatch(/^409 /u)
  })

  test.each(ways)("MAY2 refuses a call by %s", async (_, path, body) => {
    const { ask, paid, troupe } = await waiting()
    const response = await ask("POST", path, body(false))
    expect(response.status).toBe(200)
    await response.text()
    const chat = await troupe.chat("anna/c")
    expect(chat.thread.messages.map((message) => "outcome" in message && message.outcome)).toContain("denied")
    expect(paid).toEqual([])
  })

  test("answers the question of a tool, which is chatting", async () => {
    const question = { toolCall: { id: "q1", name: "ask", arguments: { question: "Which?" } } }
    const scripts = [
      [question, { finish: "tool_calls" }],
      [{ text: "Blue." }, { finish: "stop" }]
    ] as Array<Fake.Script>
    const { ask } = await served(
      { adapter: Fake.make({ scripts }), tools: [tool({ name: "ask", execute: () => askUser("Which?") })] },
      { authorize: () => ({ owner: "anna" }) }
    )
    await ask("POST", "/chats/c/messages?wait", { input: "Paint" })
    expect((await ask("POST", "/chats/c/answer?wait", { input: "Blue" })).status).toBe(200)
  })
})

test.each(["approval:p2", "question:p1", "p1", ""])(
  "AGUIRUN3 with an answer to the interrupt %j, which does not wait, none is given",
  async (interruptId) => {
    const { ask, paid, troupe } = await waiting({ approve: true })
    const answer = agUiAnswer(true)
    const resume = [...answer.resume, { ...answer.resume[0], interruptId }]
    const response = await ask("POST", "/ag-ui", { ...answer, resume })
    expect(response.status).toBe(409)
    expect(await response.json()).toMatchObject({
      error: {
        code: "invalid_status_for_operation",
        message: expect.stringContaining("approval:p1"),
        issues: [{ field: ["resume", 1, "interruptId"], reason: "must_be_one_of approval:p1" }]
      }
    })
    expect(paid).toEqual([])
    expect((await troupe.chat("anna/c")).getSnapshot()?.context.pendingApprovals).toHaveLength(1)
  }
)

test("AGUIRUN3 an answer in a conversation that waits for nothing is refused, and the refusal says so", async () => {
  const { ask } = await waiting({ approve: true })
  await (await ask("POST", "/ag-ui", agUiAnswer(true))).text()
  const answer = agUiAnswer(true)
  const resume = [{ ...answer.resume[0], interruptId: "approval:p2" }]
  const response = await ask("POST", "/ag-ui", { ...answer, resume })
  expect(response.status).toBe(409)
  expect(await response.json()).toMatchObject({
    error: {
      message: expect.stringContaining("waits for no answer"),
      issues: [{ field: ["resume", 0, "interruptId"], reason: "nothing is pending; leave it out" }]
    }
  })
})

describe("MAY1 a call that runs", () => {
  test.each([
    [undefined, 403, 1],
    [{ approve: true }, 200, 2]
  ])("with may: %j a restart is answered %s, and it ran %s times", async (may, status, times) => {
    const runs: Array<() => void> = []
    const started = Promise.withResolvers<void>()
    const again = Promise.withResolvers<void>()
    const pay = tool({
      name: "pay",
      execute: (_, { signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener("abort", () => resolve("left"))
          runs.push(() => resolve("paid"))
          ;(runs.length === 1 ? started : again).resolve()
        })
    })
    const { ask } = await served({ adapter: pays(), tools: [pay] }, { authorize: () => ({ owner: "anna", may }) })
    const turn = ask("POST", "/chats/c/messages?wait", { input: "Pay" })
    await started.promise
    const response = await ask("POST", "/chats/c/tools/p1/restart", {})
    expect(response.status).toBe(status)
    if (status === 403) expect(await codeOf(response)).toBe("403 forbidden")
    else await again.promise
    expect(runs).toHaveLength(times)
    runs.at(-1)?.()
    expect((await turn).status).toBe(200)
  })
})

describe("MAY1 an owner that may approve", () => {
  test.each(ways)("allows a call by %s", async (_, path, body) => {
    const { ask, paid } = await waiting({ approve: true })
    const response = await ask("POST", path, body(true))
    expect(response.status).toBe(200)
    await response.text()
    expect(paid).toEqual(["paid"])
  })
})

describe("MAY1 the mode", () => {
  const modes: ReadonlyArray<Permissions.Mode> = ["plan", "default", "acceptEdits", "trusted", "bypass"]

  test.each<[Permissions.Mode, May | undefined, Permissions.Mode]>([
    ["plan", undefined, "plan"],
    ["default", undefined, "default"],
    ["acceptEdits", {}, "acceptEdits"],
    ["plan", { mode: "default" }, "default"],
    ["plan", { mode: "trusted" }, "trusted"],
    ["default", { mode: "bypass" }, "bypass"]
  ])("of the host is %s, the owner's `may` is %j: it is set up to %s", async (mode, may, loosest) => {
    const { ask, troupe } = await served({ permissions: { mode } }, { authorize: () => ({ owner: "anna", may }) })
    await ask("POST", "/chats/c/messages?wait", { input: "Hello" })
    const chat = await troupe.chat("anna/c")
    const allowed = modes.slice(0, modes.indexOf(loosest) + 1)
    for (const next of modes) {
      const response = await ask("POST", "/chats/c/mode", { mode: next })
      if (allowed.includes(next)) expect([next, response.status]).toEqual([next, 200])
      else expect(await refused(response, "mode_refused")).toContain("may: { mode }")
    }
    expect(chat.getSnapshot()?.context.permissionMode).toBe(loosest)
  })

  test("that the host set for one conversation bounds its owner", async () => {
    const { ask, troupe } = await served({ permissions: { mode: "trusted" } })
    await ask("POST", "/chats/c/messages?wait", { input: "Hello" })
    await (await troupe.chat("anna/c")).setPermissionMode("plan")
    await refused(await ask("POST", "/chats/c/mode", { mode: "default" }), "mode_refused")
    expect((await ask("POST", "/chats/c/rewind", { seq: 1 })).status).toBe(200)
    await refused(await ask("POST", "/chats/c/mode", { mode: "default" }), "mode_refused")
    expect((await ask("POST", "/chats/c/fork", { at: 1, id: "d" })).status).toBe(201)
    await refused(await ask("POST", "/chats/d/mode", { mode: "default" }), "mode_refused")
  })
})

describe("MAY1 the agent and the model", () => {
  const answering = (text: string) => Fake.make({ script: [{ text }, { finish: "stop" }] })
  const agents = { support: { adapter: answering("support") }, billing: { adapter: answering("billing") } }
  const serving = (may?: May) => served({ agents, agent: "support" }, { authorize: () => ({ owner: "anna", may }) })

  test("are not chosen by an owner of whom nothing is said", async () => {
    const { ask, troupe } = await serving()
    const begun = await ask("POST", "/chats/c/messages?wait", { input: "Hello", agent: "billing" })
    expect(await refused(begun)).toContain('may: { agents: ["billing"] }')
    const small = await ask("POST", "/chats/c/messages?wait", { input: "Hello", model: "small" })
    expect(await refused(small)).toContain('may: { models: ["small"] }')
    expect((await troupe.list()).chats).toEqual([])
    await ask("POST", "/chats/c/messages?wait", { input: "Hello" })
    expect(await refused(await ask("POST", "/chats/c/handoff", { agent: "billing" }))).toContain("agents")
    expect(await refused(await ask("POST", "/chats/c/fork", { id: "d", agent: "billing" }))).toContain("agents")
    expect((await (await ask("GET", "/chats/c")).json()) as object).toMatchObject({ agent: "support" })
  })

  test("are chosen by an owner that may: a conversation begins with the agent, and is handed over", async () => {
    const { ask } = await serving({ agents: ["billing", "sales"], models: true })
    await (await ask("POST", "/chats/c/messages?wait", { input: "Hello", agent: "billing", model: "small" })).text()
    expect(agents.billing.adapter.requests.at(-1)?.model).toBe("small")
    expect(await codeOf(await ask("POST", "/chats/c/messages", { input: "Hello", agent: "sales" }))).toBe(
      "404 unknown_agent"
    )
    await (await ask("POST", "/chats/d/messages?wait", { input: "Hello" })).text()
    expect(await codeOf(await ask("POST", "/chats/d/messages", { input: "Hello", agent: "billing" }))).toBe(
      "409 other_agent"
    )
    expect((await ask("POST", "/chats/d/handoff", { agent: "billing" })).status).toBe(200)
    expect(await codeOf(await ask("POST", "/chats/d/handoff", { agent: "sales" }))).toBe("404 unknown_agent")
    expect(await codeOf(await ask("POST", "/chats/d/handoff", { agent: "" }))).toBe("422 invalid_input")
    expect(await codeOf(await ask("POST", "/chats/none/handoff", { agent: "billing" }))).toBe("404 unknown_chat")
    expect((await (await ask("GET", "/chats/d")).json()) as object).toMatchObject({ agent: "billing" })
  })

  test.each<[May["agents"], string, boolean]>([
    [true, "biling", true],
    [["biling", "billing"], "biling", true],
    [["biling"], "biling", false],
    [true, "zzz", false]
  ])(
    "a refused agent is answered with the closest name that the owner may choose: %j, %s",
    async (may, agent, isNamed) => {
      const { ask } = await serving({ agents: may, rewind: true })
      await (await ask("POST", "/chats/c/messages?wait", { input: "Hello" })).text()
      const answers = await Promise.all([
        ask("POST", "/chats/new/messages", { input: "Hello", agent }),
        ask("POST", "/chats/c/handoff", { agent }),
        ask("POST", "/chats/c/fork", { agent })
      ])
      for (const answer of answers) {
        const text = await answer.text()
        expect([answer.status, text.includes("did you mean billing?"), text.includes("billing")]).toEqual([
          404,
          isNamed,
          isNamed
        ])
      }
    }
  )

  test("begins a conversation also when the client has looked at it before", async () => {
    const { ask } = await serving({ agents: true })
    const view = await ask("GET", "/chats/c/view")
    const said = await ask("POST", "/chats/c/messages?wait", { input: "Hello", agent: "billing" })
    expect([said.status, await said.text()]).toEqual([200, expect.stringContaining("billing")])
    await view.body?.cancel()
  })
})

test("MAY1 a tool of the client cannot take the name of a tool of an agent", async () => {
  const pay = tool({ name: "pay", execute: () => "paid" })
  const agents = { billing: { tools: [pay], handoffs: ["support"] }, support: {} }
  const { ask } = await served(
    { agents },
    { clientTools: true, authorize: () => ({ owner: "anna", may: { agents: true } }) }
  )
  for (const name of ["pay", "handoff_to_support"]) {
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hello" }] }
    const asked = await ask("POST", "/api/chat", { id: "c", message, tools: { [name]: { parameters: {} } } })
    expect(await codeOf(asked)).toBe("422 invalid_input")
  }
})

describe("MAY1 the log", () => {
  const text = (id: string, said: string) => ({ id, role: "user", parts: [{ type: "text", text: said }] })
  const talked = async (may?: May) => {
    const server = await served({}, { authorize: () => ({ owner: "anna", may }) })
    for (const id of ["u1", "u2"]) {
      await (await server.ask("POST", "/api/chat", { id: "c", message: text(id, id) })).text()
    }
    return server
  }
  const edit = { id: "c", messageId: "u1", messages: [text("u1", "other")] }
  const earlier = { id: "c", trigger: "regenerate-message", messageId: "u1.reply", messages: [text("u1", "u1")] }
  const last = { id: "c", trigger: "regenerate-message", messages: [text("u1", "u1"), text("u2", "u2")] }

  test("is rewound, forked and deleted by an owner of whom nothing is said", async () => {
    const { ask } = await talked()
    expect((await ask("POST", "/api/chat", edit)).status).toBe(200)
    expect((await ask("POST", "/chats/c/fork", { at: 2 })).status).toBe(201)
    expect((await ask("POST", "/chats/c/rewind", { seq: 1, cancel: true })).status).toBe(200)
    expect((await ask("DELETE", "/chats/c")).status).toBe(200)
  })

  test("is neither rewound nor forked by one that may not, whose last answer is given again all the same", async () => {
    const { ask, troupe } = await talked({ rewind: false })
    for (const [path, body] of [
      ["/api/chat", edit],
      ["/api/chat", earlier],
      ["/chats/c/fork", { at: 2 }],
      ["/chats/c/rewind", { seq: 1 }]
    ] as const) {
      expect(await refused(await ask("POST", path, body))).toContain("may: { rewind: true }")
    }
    expect((await troupe.list()).chats.map(({ messages }) => messages)).toEqual([4])
    const again = await ask("POST", "/api/chat", last)
    expect(again.status).toBe(200)
    await again.text()
  })

  test("is not deleted by one that may not", async () => {
    const { ask, troupe } = await talked({ delete: false })
    expect(await refused(await ask("DELETE", "/chats/c"))).toContain("may: { delete: true }")
    expect((await troupe.list()).chats).toHaveLength(1)
  })
})

test("MAY1 a link rejects with the server's refusal, and stays open", async () => {
  const { link } = await linked(pays(), { authorize: () => ({ owner: "anna" }) })
  const chat = link.chat("c")
  await chat.send("Hello")
  await expect(chat.setPermissionMode("bypass")).rejects.toMatchObject({ code: "mode_refused", status: 403 })
  await expect(chat.approve("p1", { type: "allow" })).rejects.toMatchObject({ code: "forbidden", status: 403 })
  expect(chat.getState().status).not.toBe("closed")
})

test.each([{ aprove: true }, { approve: "yes" }, { mode: "loose" }, { delete: 0 }, null, "all"])(
  "MAY1 what `authorize` cannot mean permits nothing, and `onError` is called: %j",
  async (may) => {
    const { ask, errors } = await served({}, { authorize: () => ({ owner: "anna", may: may as May }) })
    expect(await codeOf(await ask("GET", "/chats/c"))).toBe("500 internal")
    expect(errors).toMatchObject([
      { message: expect.stringContaining("may: { mode, approve, observe, rewind, delete, agents, models }") }
    ])
  }
)

test.each(["anna", null, undefined])(
  "an answer of `authorize` that is no object is reported with its form: %j",
  async (who) => {
    const { ask, errors } = await served({}, { authorize: () => who as never })
    expect(await codeOf(await ask("GET", "/chats/c"))).toBe("500 internal")
    expect(errors).toMatchObject([{ message: expect.stringContaining('authorize returns { owner: "anna" }') }])
  }
)

test.each(["a".repeat(257), "a\u0000", "a\nb", "\ud800"])(
  "SERVE2 an owner's name that cannot be stored is refused as such: %j",
  async (owner) => {
    const { ask } = await served({}, { authorize: () => ({ owner }) })
    for (const path of ["/chats/c", "/chats"]) {
      const response = await ask("GET", path)
      const { error } = (await response.json()) as {
        readonly error: { readonly code: string; readonly message: string }
      }
      expect([response.status, error.code]).toEqual([403, "invalid_owner"])
      expect(error.message).toMatch(/`authorize`/u)
    }
  }
)

test("SERVE2 an owner's name of 256 characters is stored, whatever they are", async () => {
  for (const letter of ["%", "/", "ä", "日", "é"]) {
    const { ask } = await served({}, { authorize: () => ({ owner: letter.repeat(256) }) })
    const id = encodeURIComponent("日".repeat(256))
    expect((await ask("POST", `/chats/${id}/messages?wait`, { input: "Hello" })).status).toBe(200)
  }
})
