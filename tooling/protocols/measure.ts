/**
 * What each protocol carries: sends requests to a server on loopback, and compares what the model and the client receive.
 *
 * @module
 */
import { answerTo, type Column, type Known, type Protocol, protocols } from "./protocols.ts"
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
const hi = (column: Column): unknown => (column === "aiSdk" ? [{ type: "text", text: "Hi" }] : "Hi")

/** What a protocol does with a part of a request. */
const requestCell = async ({ forms, mark }: RequestRow, column: Column): Promise<Cell> => {
  const form = forms[column]
  if (form === undefined) return "–"
  await using stage = await staged(saying("Done"))
  const request = protocols[column].send(stage.url, form.content ?? hi(column), form.fields)
  const { status, text } = await answerTo(request)
  if (status >= 400 && status < 500 && text.includes('"code":')) return "refused"
  if (status !== 200) throw new Error(`${column} answers with ${status}: ${text}`)
  return mark.test(stage.received.join("\n")) ? "used" : "ignored"
}

/** Whether a client receives a part of an answer. */
const answerCell = async ({ reply, mark }: AnswerRow, column: Column): Promise<Cell> => {
  const { send, again } = protocols[column]
  await using stage = await staged(reply, saying("Done"))
  const { text: answer } = await answerTo(send(stage.url, hi(column)))
  const live = mark.test(answer)
  // An answer that is not stored is asked for once more, whole.
  await using other = column === "completions" ? await staged(reply, saying("Done")) : undefined
  const { text } = await again({ url: (other ?? stage).url, answer })
  if (mark.test(text)) return live ? "yes" : "later"
  return live ? "live" : "no"
}

/** Whether a client can do something. */
const actCell = async ({ replies, act, asked, gone, read }: ActRow, column: Column): Promise<Cell> => {
  const protocol = protocols[column]
  const acting = act(protocol)
  if (acting === undefined) return "–"
  await using stage = await staged(...replies)
  const { text: answer } = await answerTo(protocol.send(stage.url, hi(column)))
  const { text } = await acting({ url: stage.url, answer })
  const last = stage.received.at(-1) ?? ""
  if (read !== undefined) return read.test(text) ? "yes" : "no"
  return stage.received.length > 1 && asked.test(last) && gone?.test(last) !== true ? "yes" : "no"
}

/** The text of a stream up to these words; then the client leaves. */
const until = async ({ body }: Response, words: string): Promise<string> => {
  let text = ""
  for await (const next of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += next
    if (text.includes(words)) return text
  }
  throw new Error(`the stream ended before ${words}: ${text}`)
}

type Act = (protocol: Protocol, stage: Stage, known: Known) => Promise<Cell>

/** Acts during a running answer: the client has its first words, and disconnects. */
const running: ReadonlyArray<{ readonly title: string; readonly act: Act }> = [
  {
    title: "leave, while the turn goes on",
    act: async (protocol, stage, known) => {
      if (protocol === protocols.completions) return "–"
      stage.release()
      while (!(await protocol.again(known)).text.includes("Once upon a time")) continue
      return stage.aborted() === 0 ? "yes" : "no"
    }
  },
  {
    title: "read the running answer again",
    act: async ({ resume }, { url }) => {
      if (resume === undefined) return "–"
      return (await until(await fetch(resume(url)), "Once upon")) === "" ? "no" : "yes"
    }
  },
  {
    title: "cancel the running turn",
    act: async ({ cancel }, stage, known) => {
      if (cancel === undefined) return "–"
      await cancel(known)
      return stage.aborted() === 1 ? "yes" : "no"
    }
  }
]

const runningCell = async ({ act }: (typeof running)[number], column: Column): Promise<Cell> => {
  await using stage = await staged(held)
  const protocol = protocols[column]
  const response = await fetch(protocol.send(stage.url, hi(column)))
  return await act(protocol, stage, { url: stage.url, answer: await until(response, "Once upon") })
}

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
export const measured = async (columns: ReadonlyArray<Column>) => ({
  requests: await rowsOf(requestRows, columns, requestCell),
  answers: await rowsOf(answerRows, columns, answerCell),
  acts: [...(await rowsOf(actRows, columns, actCell)), ...(await rowsOf(running, columns, runningCell))]
})
