/** A program that runs one tool in each kind of place, and writes the results. It is started with flags of Node. */
import { isolated, type Isolation } from "../../src/index.ts"
import { runToolCalls } from "@troupe/chat/tools"

/** Calls tools that return the variable `SECRET_OF_THIS_TEST` and the flags of their place. */
export const report = async (): Promise<void> => {
  const returned = `{ secret: process.env.SECRET_OF_THIS_TEST ?? null, flags: process.execArgv }`
  const module = `data:text/javascript,${encodeURIComponent(`export default () => (${returned})`)}`
  const tools = (["worker", "process"] satisfies ReadonlyArray<Isolation>).map((isolate) =>
    isolated({ name: isolate, isolate, module })
  )
  const calls = tools.map(({ name }) => ({ id: name, name, arguments: {} }))
  const { messages } = await runToolCalls(calls, tools)
  process.stdout.write(`${JSON.stringify(messages.map(({ content }) => content))}\n`)
}

if (process.argv[1] === import.meta.filename) await report()
