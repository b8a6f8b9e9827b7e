/** A server of a Troupe, asked as a client asks it; all of it is ended after the test. */
import { Fake, type RunningTroupe, Troupe, type TroupeOptions } from "@troupe/chat"
import { onTestFinished } from "vitest"
import * as Server from "../../src/server/Server.ts"
import type { ServerOptions } from "../../src/server/serverOptions.ts"

export interface Served {
  readonly troupe: RunningTroupe
  readonly server: Server.Server
  /** The errors that `onError` got. */
  readonly errors: ReadonlyArray<unknown>
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Response>
}

/** A model that says the same to everything. */
export const hello = (): Fake.Fake => Fake.make({ script: [{ text: "Hi " }, { text: "there" }, { finish: "stop" }] })

/** A model that begins and never ends. */
export const endless = (): Fake.Fake => Fake.make({ script: [{ text: "Once " }, { text: "upon" }, { hang: true }] })

/** The owner is who the `authorization` names; without one nobody is let in. */
export const served = async (
  troupeOptions: Partial<TroupeOptions> = {},
  options: Partial<ServerOptions> = {}
): Promise<Served> => {
  const errors: Array<unknown> = []
  const troupe = await Troupe.start({ adapter: hello(), ...troupeOptions })
  onTestFinished(() => troupe.stop())
  const server = Server.make({
    troupe,
    authorize: ({ headers }) => {
      const owner = headers.get("authorization")
      return owner === null ? { deny: 401 } : { owner, may: { approve: true, observe: owner === "operator" } }
    },
    onError: (error) => void errors.push(error),
    ...options
  })
  onTestFinished(server.close)
  const ask: Served["ask"] = (method, path, body, headers = {}) =>
    server.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          authorization: "anna",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
    )
  return { troupe, server, errors, ask }
}

/** The status and the code of a refusal. */
export const codeOf = async (response: Response): Promise<string> => {
  const { error } = (await response.json()) as { readonly error: { readonly code: string; readonly message: string } }
  return error.message === "" ? "no message" : `${response.status} ${error.code}`
}

export interface Said {
  readonly cursor: string | undefined
  readonly type: string
  readonly json: unknown
}

/** The frames of a stream of which all is there. */
export const framesIn = (text: string): ReadonlyArray<Said> =>
  text.split("\n\n").flatMap((frame) => {
    const data = /^data: (?<data>.*)$/mu.exec(frame)?.groups?.["data"]
    const cursor = /^id: (?<id>.*)$/mu.exec(frame)?.groups?.["id"]
    if (data === undefined) return []
    const json = JSON.parse(data) as { readonly type: string }
    return [{ type: json.type, json, cursor }]
  })

/** Reads a response chunk by chunk; `until` gives all text as soon as it has a word. */
export const reading = (response: Response) => {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  return {
    until: async (word: string): Promise<string> => {
      while (!text.includes(word)) {
        const next = await reader?.read()
        if (next === undefined || next.done) throw new Error(`the stream ended before it said ${word}: ${text}`)
        text += decoder.decode(next.value, { stream: true })
      }
      return text
    },
    rest: async (): Promise<string> => {
      for (;;) {
        const next = await reader?.read()
        if (next === undefined || next.done) return text
        text += decoder.decode(next.value, { stream: true })
      }
    },
    leave: async (): Promise<void> => {
      await reader?.cancel()
    }
  }
}

/** One turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Turns of the event loop, until something holds. */
export const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await turn()
}
