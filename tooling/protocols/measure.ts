/**
 * What each protocol carries: sends requests to a server on loopback, and compares what the model and the client receive.
 *
 * @module
 */
import { answerTo, type Column, protocols } from "./protocols.ts"
import { type ActRow, actRows, answerRows, type AnswerRow, held, type RequestRow, requestRows } from "./rows.ts"
import { saying, type Stage, staged } from "./stage.ts"

/**
 * A cell of a table.
 *
 * - `used`: the model receives it
 * - `ignored`: the request is answered without it
 * - `refused`: the request gets a typed error
 * - `yes`: the client receives it in the stream, and when it reads the answer again; or it can do it
 * - `live`: the client receives it in the stream alone
 * - `later`: the client receives it only when it reads the answer again
 * - `no`: the client does not receive it
 * - `–`: the protocol, or this server's form of it, has no such thing
 */
type Cell = "used" | "ignored" | "refused" | "yes" | "live" | "later" | "no" | "–"

/** The default content of a message, in each protocol. */
const hi: Readonly<Record<Column, unknown>> = {
  aiSdk: [{ type: "text", text: "Hi" }],
  agUi: "Hi",
  responses: "Hi",
  completions: "Hi"
}

const during = async <A>(stage: Stage, work: () => Promise<A>): Promise<A> => {
  try {
    return await work()
  } finally {
    await stage.close()
  }
}

/** What a protocol does with a part of a request. */
const requestCell = async ({ forms, mark }: RequestRow, column: Column): Promise<Cell> => {
  const form = forms[column]
  if (form === undefined) return "–"
  const stage = await staged(saying("Done"))
  return during(stage, async () => {
    const request = protocols[column].send(stage.url, form.content ?? hi[column], form.fields)
    const { status, text } = await answerTo(request)
    if (status >= 400 && status < 500 && text.includes('"code":')) return "refused"
    if (status !== 200) throw new Error(`${column} answers with ${status}: ${text}`)
    return mark.test(stage.received.join("\n")) ? "used" : "ignored"
  })
}

/** Whether a client receives a part of an answer. */
const answerCell = async ({ reply, mark }: AnswerRow, column: Column): Promise<Cell> => {
  const { send, again } = protocols[column]
  const stage = await staged(reply, saying("Done"))
  return during(stage, async () => {
    const { text: answer } = await answerTo(send(stage.url, hi[column]))
    const live = mark.test(answer)
    const other = await staged(reply, saying("Done"))
    // An answer that is not stored is asked for once more, whole.
    const { text } = await during(other, () => again({ url: column === "completions" ? other.url : stage.url, answer }))
    if (mark.test(text)) return live ? "yes" : "later"
    return live ? "live" : "no"
  })
}

/** Whether a client can do something. */
const actCell = async ({ replies, act, asked, gone }: ActRow, column: Column): Promise<Cell> => {
  const protocol = protocols[column]
  const acting = act(protocol)
  if (acting === undefined) return "–"
  const stage = await staged(...replies)
  return during(stage, async () => {
    const { text: answer } = await answerTo(protocol.send(stage.url, hi[column]))
    await acting({ url: stage.url, answer })
    const last = stage.received.at(-1) ?? ""
    return stage.received.length > 1 && asked.test(last) && gone?.test(last) !== true ? "yes" : "no"
  })
}

/** The text of a stream up to these words; then the client leaves. */
const until = async (response: Response, words: string): Promise<string> => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  while (!text.includes(words)) {
    const next = await reader?.read()
    if (next === undefined || next.done) throw new Error(`the stream ended before ${words}: ${text}`)
    text += next.value
  }
  await reader?.cancel()
  return text
}

/** Acts during a running answer: the client has its first words, and disconnects. */
const running: ReadonlyArray<readonly [string, (column: Column, stage: Stage, begun: string) => Promise<Cell>]> = [
  [
    "leave, while the turn goes on",
    async (column, stage, begun) => {
      if (column === "completions") return "–"
      stage.release()
      const { again } = protocols[column]
      for (;;) {
        const { text } = await again({ url: stage.url, answer: begun })
        if (text.includes("Once upon a time")) return stage.aborted() === 0 ? "yes" : "no"
      }
    }
  ],
  [
    "read the running answer again",
    async (column, stage) => {
      const { resume } = protocols[column]
      if (resume === undefined) return "–"
      return (await until(await fetch(resume(stage.url)), "Once upon")) === "" ? "no" : "yes"
    }
  ],
  [
    "cancel the running turn",
    async (column, stage, begun) => {
      const { cancel } = protocols[column]
      if (cancel === undefined) return "–"
      await cancel({ url: stage.url, answer: begun })
      return stage.aborted() === 1 ? "yes" : "no"
    }
  ]
]

/** The rows of one table: a title, and a cell for each protocol. */
export type Rows = ReadonlyArray<readonly [string, ...ReadonlyArray<Cell>]>

const rowsOf = async <Row extends { readonly title: string }>(
  list: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column>,
  cell: (row: Row, column: Column) => Promise<Cell>
): Promise<Rows> =>
  Promise.all(
    list.map(async (row) => [row.title, ...(await Promise.all(columns.map((one) => cell(row, one))))] as const)
  )

/** The three tables. */
export const measured = async (columns: ReadonlyArray<Column>) => {
  const runs = running.map(([title, act]) => ({ title, act }))
  return {
    requests: await rowsOf(requestRows, columns, requestCell),
    answers: await rowsOf(answerRows, columns, answerCell),
    acts: [
      ...(await rowsOf(actRows, columns, actCell)),
      ...(await rowsOf(runs, columns, async ({ act }, column) => {
        const stage = await staged(held)
        return during(stage, async () => {
          const response = await fetch(protocols[column].send(stage.url, hi[column]))
          return act(column, stage, await until(response, "Once upon"))
        })
      }))
    ]
  }
}
