import { Fake } from "@troupe/chat"
import { SessionError, ValidationError } from "@troupe/chat/errors"
import { expect, test } from "vitest"
import { HttpError } from "../../src/errors/HttpError.ts"
import type { ChatLink } from "../../src/link/ChatLink.ts"
import { local } from "../../src/link/Local.ts"
import { requestOf, type Verb, verbNames } from "../../src/link/index.ts"
import { linked, until } from "../double/linked.ts"

const args: { readonly [Name in Verb]: Parameters<ChatLink[Name]> } = {
  cancel: [{ tasks: true }],
  withdraw: ["nothing waits under this id"],
  retry: [],
  compact: [],
  resume: [],
  answer: [{ decisions: { call: { type: "allow" } }, input: "so?" }, { id: "a1" }],
  approve: ["call", { type: "allow" }],
  submitToolResults: [{ call: 1 }],
  cancelToolCall: ["call"],
  restartToolCall: ["call"],
  cancelTask: ["task"],
  setPermissionMode: ["default"],
  handoff: ["nobody"]
}

const calling = (chat: ChatLink, verb: Verb): Promise<void> =>
  (chat[verb] as (...all: unknown[]) => Promise<void>)(...args[verb])

/** What became of a verb: the word of its error, which every face has. */
const endOf = async (call: Promise<void>): Promise<string> => {
  try {
    await call
    return "ok"
  } catch (error) {
    if (error instanceof HttpError) return error.code
    return error instanceof SessionError || error instanceof ValidationError ? error.reason : String(error)
  }
}

test.each(verbNames)(
  "VERB1 %s ends alike through a link of this program, through a server, and by its request",
  async (verb) => {
    const { link, troupe, server } = await linked(Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }), {
      authorize: () => ({ owner: "anna", may: { approve: true, agents: ["nobody"] } })
    })
    for (const id of ["near", "far", "raw"]) {
      await link.chat(id).send("Hello")
      const chat = await troupe.chat(`anna/${id}`)
      await until(() => chat.getSnapshot()?.context.phase === "idle" && chat.thread.messages.length === 2)
    }
    const near = await endOf(calling(local(troupe).chat("anna/near"), verb))
    const far = await endOf(calling(link.chat("far"), verb))
    const { path, body } = (requestOf as (name: Verb, ...all: unknown[]) => ReturnType<typeof requestOf>)(
      verb,
      ...args[verb]
    )
    const raw = await server.fetch(
      new Request(`http://localhost/chats/raw${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body)
      })
    )
    const answer = (await raw.json()) as { readonly error?: { readonly code: string } }
    expect([verb, far, answer.error?.code ?? "ok"]).toEqual([verb, near, near])
  }
)
