/**
 * What the scripted model does as the scout of the team, and what its parent says of it.
 *
 * @module
 */
import { Message } from "@troupe/chat/messages"
import type { PlannedCall } from "./planner.ts"

const task = /^Scout (?<place>.+)\.$/u
const fromParent = "The agent that called you (parent) says:\n"

/** How many places of a city the scout looks at, if nobody sends it elsewhere. */
const mostPlaces = 20

interface Done {
  readonly text: string
  readonly calls: ReadonlyArray<PlannedCall>
}

const calls = (name: string, given: PlannedCall["arguments"]): Done => ({
  text: "",
  calls: [{ name, arguments: given }]
})

/**
 * What a scout does next; `undefined` in a thread of another agent. It answers each question of its parent, and goes where it is sent: there it
 * looks at the weather, asks the person, and ends.
 */
export const scouted = (messages: ReadonlyArray<Message.Message>): Done | undefined => {
  const said = messages.flatMap((message) => (message.role === "user" ? [Message.text(message)] : []))
  const first = task.exec(said[0] ?? "")?.groups?.["place"]
  if (first === undefined) return undefined
  const received = said.flatMap((text) => (text.startsWith(fromParent) ? [text.slice(fromParent.length)] : []))
  const sentTo = received
    .map((text) => /^Look at (.+) instead\.$/u.exec(text)?.[1])
    .findLast((place) => place !== undefined)
  const made = messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
  const times = (name: string): number => made.filter((call) => call.name === name).length
  const places = times("slow_job")
  const place = sentTo ?? first
  if (received.filter((text) => text.startsWith("How far")).length > times("tell")) {
    return calls("tell", { to: "parent", message: `I have looked at ${places} places of ${place}, and go on.` })
  }
  if (sentTo === undefined && places < mostPlaces) return calls("slow_job", { seconds: 1 })
  if (times("weather") === 0) return calls("weather", { city: place })
  if (times("ask") === 0) return calls("ask", { question: `Who comes to ${place}, and for how long?` })
  const answer = said.findLast((text) => !text.startsWith(fromParent)) ?? ""
  return { text: `My notes on ${place}: ${places} places seen on the way; the answer was “${answer}”.`, calls: [] }
}

/** What the parent says of a message of its scout, and of the end of its work; `undefined` for another text. */
export const ofScout = (said: string): string | undefined => {
  const message = /^The agent scout-\w+ says:\n(?<text>.*)$/su.exec(said)?.groups?.["text"]
  if (message !== undefined) return `The scout says: ${message}`
  const end = /^The background task \w+ \(scout\) has ended: (?<status>\w+)\.\n?(?<text>.*)$/su.exec(said)?.groups
  return end && `The scout is ${end["status"] === "done" ? "back" : end["status"]}: ${withoutId(end["text"] ?? "")}`
}

const withoutId = (text: string): string => text.replace(/\s*\[agent: .+\]$/u, "")
