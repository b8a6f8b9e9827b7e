/**
 * A hand-written loop of plain async generators: its faults show the use of a runtime. It is also the baseline for the cost of a
 * conversation.
 */
import type { Framework, Received, Role } from "./framework.ts"
import type { Chunk } from "./model.ts"

type Call = Extract<Chunk, { readonly type: "call" }>

const run = async ({ tools = [] }: Role, { id, name, json }: Call, signal: AbortSignal): Promise<Received> => {
  const tool = tools.find((known) => known.name === name)
  if (tool === undefined) return { type: "outcome", callId: id, outcome: "not_found" }
  try {
    await tool.run(JSON.parse(json), { id, signal })
    return { type: "outcome", callId: id, outcome: "completed" }
  } catch {
    return { type: "outcome", callId: id, outcome: "failed" }
  }
}

async function* loop(role: Role, signal: AbortSignal): AsyncGenerator<Received, void> {
  for (;;) {
    const called: Array<Call> = []
    for await (const chunk of role.model.reply()) {
      if (chunk.type === "text") yield { type: "text", text: chunk.text }
      else if (chunk.type === "call") called.push(chunk)
    }
    if (called.length === 0) return yield { type: "end", reason: "completed" }
    for (const outcome of await Promise.all(called.map((call) => run(role, call, signal)))) yield outcome
  }
}

export const framework: Framework = {
  name: "plain async generators",
  leaving: "releases",
  cannot: { dies: "nothing is stored" },
  start: async ({ roles: { boss } }) => {
    const abort = new AbortController()
    if (boss === undefined) throw new Error("there is no agent boss")
    const end = async (): Promise<void> => abort.abort()
    return { send: () => loop(boss, abort.signal), cancel: end, close: end }
  }
}
