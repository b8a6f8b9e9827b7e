/**
 * A hand-written loop of plain async generators: its faults show the use of a runtime. It is also the baseline for the cost
 * of a conversation.
 */
import type { Conversation, Framework, Received, Setup } from "./framework.ts"
import type { Chunk } from "./scriptedModel.ts"

type Call = Extract<Chunk, { readonly type: "call" }>

const run = async ({ tools }: Setup, { id, name, json }: Call, signal: AbortSignal): Promise<Received> => {
  const tool = tools.find((known) => known.name === name)
  if (tool === undefined) return { type: "outcome", callId: id, outcome: "not_found" }
  try {
    await tool.run(JSON.parse(json), { id, signal })
    return { type: "outcome", callId: id, outcome: "completed" }
  } catch {
    return { type: "outcome", callId: id, outcome: "failed" }
  }
}

async function* loop(setup: Setup, signal: AbortSignal): AsyncGenerator<Received, void> {
  for (;;) {
    const called: Array<Call> = []
    for await (const chunk of setup.model.reply()) {
      if (chunk.type === "text") yield { type: "text", text: chunk.text }
      else if (chunk.type === "call") called.push(chunk)
    }
    if (called.length === 0) return yield { type: "end", reason: "completed" }
    for (const outcome of await Promise.all(called.map((call) => run(setup, call, signal)))) yield outcome
  }
}

export const framework: Framework = {
  name: "plain async generators",
  leaving: "releases",
  durable: false,
  start: async (setup): Promise<Conversation> => {
    const abort = new AbortController()
    return {
      send: () => loop(setup, abort.signal),
      cancel: async () => abort.abort(),
      lateReports: () => 0,
      close: async () => abort.abort()
    }
  }
}
