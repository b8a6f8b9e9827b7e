/** The team in the terminal: `node src/main.ts "Plan a visit to Oslo"`. */
import { createInterface } from "node:readline/promises"
import { Troupe } from "@troupe/chat"
import { adapter } from "./model.ts"
import { store } from "./store.ts"
import { team } from "./team.ts"
import { work } from "./work.ts"

const task = process.argv[2] ?? "Plan a visit to Oslo"
const troupe = await Troupe.start({ ...team, adapter, store })
const lines = createInterface({ input: process.stdin, output: process.stdout })
const ended = new AbortController()
lines.once("close", () => ended.abort())

console.log(`you: ${task}`)
const answer = await work(troupe, crypto.randomUUID(), task, {
  show: (line) => console.log(line),
  ask: (question) => lines.question(`${question} `, { signal: ended.signal }).catch(() => "Nobody answers")
})
console.log(`coordinator: ${answer}`)

lines.close()
await troupe.stop()
process.exit()
