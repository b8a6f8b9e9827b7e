/** A form that a tool asks for, by each protocol. */
import { Fake, tool } from "@troupe/chat"
import { describe, expect, test } from "vitest"
import { framesIn, served } from "../double/served.ts"

const schema = { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] }

/** A chat whose tool asks for a number of seats. */
const theatre = () =>
  served(
    {
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "book" } }, { finish: "tool_calls" }],
          [{ text: "Done." }, { finish: "stop" }]
        ]
      }),
      tools: [
        tool({
          name: "book",
          execute: (_, { chat }) =>
            chat?.answered ?? chat?.waitFor?.([{ id: "seats", question: "How many seats?", options: { schema } }])
        })
      ]
    },
    { authorize: () => ({ owner: "anna" }) }
  )

const address = "c0/~/seats"
const approvals = `/chats/c/approvals/${encodeURIComponent(address)}`
const stream = { accept: "text/event-stream" }
const uiMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] }

describe("a form of a tool", () => {
  test("PERSON1. is listed with its schema, and filled in over HTTP by an owner who may approve nothing", async () => {
    const { ask } = await theatre()
    await (await ask("POST", "/chats/c/messages", { input: "Go" }, stream)).text()
    const { waits } = (await (await ask("GET", "/waiting")).json()) as { readonly waits: ReadonlyArray<unknown> }
    expect(waits).toMatchObject([
      { kind: "question", toolCallId: address, text: "How many seats?", options: { schema } }
    ])
    const refused = await ask("POST", approvals, { type: "result", value: { seats: "two" } })
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("seats")])
    const text = await (await ask("POST", approvals, { type: "result", value: { seats: 2 } }, stream)).text()
    expect(text).toContain("Done.")
  })

  test("PERSON1. is a call of its own for the AI SDK, whose output is the form", async () => {
    const { ask } = await theatre()
    const first = await (await ask("POST", "/api/chat", { id: "c", messages: [uiMessage] })).text()
    expect(first).toContain(`"input":{"question":"How many seats?","options":{"schema":${JSON.stringify(schema)}}}`)
    const part = { type: "tool-book", toolCallId: address, state: "output-available", output: { seats: 2 } }
    const answer = { id: "r1", role: "assistant", parts: [part] }
    const second = await (await ask("POST", "/api/chat", { id: "c", messages: [uiMessage, answer] })).text()
    expect(second).toContain("Done.")
  })

  test("PERSON1. is an interrupt of AG-UI with its schema, which the form resumes", async () => {
    const { ask } = await theatre()
    const run = { threadId: "c", runId: "r1", messages: [{ id: "m1", role: "user", content: "Go" }] }
    const first = framesIn(await (await ask("POST", "/ag-ui", run)).text())
    expect(first.at(-1)?.json).toMatchObject({
      outcome: { interrupts: [{ id: `question:${address}`, message: "How many seats?", responseSchema: schema }] }
    })
    const resume = [{ interruptId: `question:${address}`, status: "resolved", payload: { seats: 2 } }]
    const second = await (await ask("POST", "/ag-ui", { ...run, runId: "r2", resume })).text()
    expect(second).toContain("Done.")
  })
})
