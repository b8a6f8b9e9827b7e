/**
 * The right value of an input, in words: a table of phrases and their checks.
 *
 * `;` and `,` join phrases that must all hold, and `or` joins alternatives. A phrase that the table does not have is not
 * examined.
 *
 * @module
 */
import { Message } from "@troupe/chat/messages"
import { fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"
import { type Difference, unexamined } from "../runner/matching.ts"
import { type Item, itemsOf, nodesIn, valuesAt } from "./bodies.ts"
import { blanksOf, halfPairsIn, shortened } from "./laws.ts"
import { countOf, meaning, splitAt, type Table } from "./words.ts"
import type { World } from "./world.ts"

type Check = (world: World) => boolean | Promise<boolean>

const body = (world: World, at = ""): string => world.bodies[(at === "second" ? 2 : countOf(at)) - 1] ?? ""
const items = (world: World, at?: string): ReadonlyArray<Item> =>
  itemsOf(body(world, at) === "" ? {} : JSON.parse(body(world, at)))
const results = (world: World, at?: string) => items(world, at).flatMap((item) => item.results.map(({ text }) => text))
const toolFields = (world: World, name: string): ReadonlyArray<string> =>
  valuesAt(world.input["tools"], name).map(textOf)
const firstReply = ({ input }: World): unknown => listOf(input["replies"])[0]
const bare = (text: string): string => text.replaceAll(/[\s"\\]/g, "")
const exact = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? String(one) : one))
const isTyped = (error: unknown): boolean => error instanceof Error && "_tag" in error && "reason" in error
const named = (error: unknown): string => `${textOf(fieldsOf(error)["_tag"])} ${textOf(fieldsOf(error)["reason"])}`
const runsOf = ({ runs }: World, name?: string): number => runs.filter(({ tool }) => !name || tool === name).length
const lastParts = ({ thread }: World) => {
  const last = thread.findLast(({ role }) => role === "assistant")
  return last?.role === "assistant" ? Message.parts(last) : []
}

/** Whether values contain the texts, in this order. */
const inOrder = (values: ReadonlyArray<string>, texts: ReadonlyArray<string>): boolean => {
  let at = -1
  return texts.every((text) => (at = values.findIndex((value, index) => index > at && value.includes(text))) !== -1)
}

/** Whether the last turn completed, and each call too whose tool is not made to fail. */
const isCompleted = (world: World): boolean => {
  const isMadeToFail = /throws|\bdeny\b|\bhalt\b/.test(JSON.stringify(world.input))
  const isWhole = isMadeToFail || world.outcomes.every((outcome) => outcome === "completed")
  return world.results.at(-1)?.haltedReason === "completed" && isWhole
}

/** How many JSON texts are inside of one another. */
const depthOf = (value: unknown): number => {
  if (typeof value !== "string") return Math.max(0, ...Object.values(fieldsOf(value)).map(depthOf))
  try {
    const inner: unknown = JSON.parse(value)
    return isFields(inner) ? 1 + depthOf(inner) : 0
  } catch {
    return 0
  }
}

/** Whether a value names the time of the input's `retry-after`: the end of the wait, or the wait. */
const namesTime = (world: World, value: unknown): boolean => {
  const seconds = Number(/retry-after\W+(\d+)/.exec(JSON.stringify(world.input))?.[1])
  const isNear = (time: number): boolean => Math.abs(time - Date.now() - seconds * 1_000) < 60_000
  const shown = value instanceof Error ? { ...value, message: value.message } : value
  return nodesIn(shown).some((node) =>
    typeof node === "number"
      ? isNear(node) || node === seconds || node === seconds * 1_000
      : typeof node === "string" && (isNear(Date.parse(node)) || new RegExp(`\\b${seconds}(?:000)?\\b`).test(node))
  )
}

const phrases: Table<Check> = {
  "see `outcome`|with default options": () => () => true,
  "{n} requests?( in one turn)?":
    (count = "", turn) =>
    (world) =>
      world.bodies.length === countOf(count) && (!turn || world.results.length === 1),
  "text {q}": (text) => (world) => world.texts("assistant").some((one) => one === text),
  "text ends with {q}":
    (text = "") =>
    (world) =>
      world.texts("assistant").join("").endsWith(text),
  "completed(?: with default options|: .*)?": () => isCompleted,
  "(?:the turn )?(?:ends|ended) with {q}":
    (reason) =>
    ({ results: ended }) =>
      ended.at(-1)?.haltedReason === reason,
  "the file is in the reply": () => (world) => lastParts(world).some(({ type }) => type === "file" || type === "image"),
  "(.*(?:half surrogate pair|well-formed).*)":
    (words = "") =>
    (world) => {
      const named = [...words.matchAll(/request (\d+)/g)].map(([, at]) => body(world, at))
      const sent = named.length > 0 ? named : world.bodies
      const isWhole = sent.every((text) => text !== "" && halfPairsIn(JSON.parse(text)).length === 0)
      return sent.length > 0 && isWhole && (!words.includes("thread") || halfPairsIn(world.thread).length === 0)
    },
  "(?:the (?:body|input|output) of )?request {n} has no {q}":
    (at, text = "") =>
    (world) =>
      items(world, at).length > 0 && !body(world, at).includes(text),
  "no message of request {n} has blank text as its only content": (at) => (world) =>
    items(world, at).length > 0 && blanksOf(items(world, at)).length === 0,
  "the output of request {n} has the error once.*": (at) => (world) => {
    const [output = "", ...more] = results(world, at)
    return more.length === 0 && output.split(toolFields(world, "throws")[0] ?? "").length === 2 && depthOf(output) < 2
  },
  "request {n} has its result": (at) => (world) => inOrder(results(world, at), toolFields(world, "returns")),
  "request {n} repeats the text of the model": (at) => (world) => {
    const said = valuesAt(firstReply(world), "arguments").map(textOf)
    return [said.join(""), ...said].some((text) => text !== "" && bare(body(world, at)).includes(bare(text)))
  },
  "request {n} has (.+)":
    (at, texts = "") =>
    (world) =>
      inOrder(results(world, at), texts.split(/,\s+(?:then\s+)?/)),
  "{q} of request {n} has the same {q}":
    (type, at, key = "") =>
    (world) => {
      const found = items(world, at).find(({ raw }) => raw["type"] === type)?.raw[key]
      return found !== undefined && exact(found) === exact(valuesAt(firstReply(world), key)[0])
    },
  "the {w} ends with the assistant's message as it was": (at) => (world) => {
    const last = items(world, at).at(-1)
    const deltas = valuesAt(firstReply(world), "delta").flatMap((delta) => valuesAt(delta, "text"))
    const ids = valuesAt(firstReply(world), "content_block").flatMap((block) => valuesAt(block, "id"))
    return last?.role === "assistant" && [...deltas, ...ids].every((text) => nodesIn(last.raw).includes(text))
  },
  "(?:the )?call (?:is )?{q}": (outcome) => (world) => world.outcomes.includes(outcome),
  "the call of {w} has a result(?: such as {q})?":
    (name) =>
    ({ thread }) => {
      const call = thread
        .flatMap((one) => (one.role === "assistant" ? (one.toolCalls ?? []) : []))
        .find((one) => one.name === name)
      return thread.some((one) => one.role === "tool" && one.toolCallId === call?.id)
    },
  "the result of the call says that the answer is cut off": () => (world) =>
    world.texts("tool").some((text) => /cut (?:off|short)|truncat|incomplete|length/i.test(text)),
  "{q} is not the result of the call":
    (text = "") =>
    (world) =>
      world.texts("tool").length > 0 && !world.texts("tool").includes(text),
  "the parent reads that there is no answer": () => (world) =>
    world.texts("tool").some((text) => /\b(?:no|without an?) (?:\w+ )?(?:answer|text|reply)|empty/i.test(text)),
  "no call for the program.*": () => (world) => {
    const steps = world.results.flatMap((result) => result.steps)
    return (
      steps.length > 0 && steps.every((step) => step.response.toolCalls.length + step.truncatedToolCalls.length === 0)
    )
  },
  "a live client sees {n} tool parts? of the provider with (?:its|their) outputs?":
    (count = "") =>
    (world) => {
      const parts = world.page.messages
        .flatMap((one) => one.parts)
        .filter(({ type }) => /^(?:tool-|dynamic-tool)/.test(type))
      return (
        parts.length === countOf(count) &&
        parts.every((part) => "output" in part && Reflect.get(part, "providerExecuted") === true)
      )
    },
  "the handler gets (?:the text )?{q}(?: in some form)?":
    (value = "") =>
    (world) =>
      world.runs.some(({ args }) => nodesIn(args).some((node) => String(node) === value)),
  "{n} calls? with (\\{.*\\})":
    (count = "", args = "") =>
    (world) =>
      world.runs.length === countOf(count) && world.runs.every((run) => bare(exact(run.args)) === bare(args)),
  "(?:it )?(?:runs|ran) {n}":
    (count = "") =>
    (world) =>
      runsOf(world) === countOf(count),
  "ran: (.+)":
    (words = "") =>
    (world) => {
      const counts = splitAt(words, /,\s+/).map((item) => item.split(" "))
      const total = counts.reduce((sum, [, ...count]) => sum + countOf(count.join(" ")), 0)
      return (
        runsOf(world) === total && counts.every(([name, ...count]) => runsOf(world, name) === countOf(count.join(" ")))
      )
    },
  "results in the order (.+)":
    (ids = "") =>
    ({ thread }) =>
      thread.flatMap((one) => (one.role === "tool" ? [one.toolCallId] : [])).join(", ") === ids,
  "call and result have one id of the form (.+)":
    (form = "") =>
    (world) => {
      const all = items(world, String(world.bodies.length))
      const ids = [...all.flatMap(({ calls }) => calls), ...all.flatMap((item) => item.results.map(({ id }) => id))]
      return ids.length > 1 && ids.every((id) => id === ids[0] && new RegExp(`^${form}$`).test(id))
    },
  "usage of the chat has {n} (input|output) tokens":
    (count = "", kind) =>
    async ({ chat }) => {
      const { usage } = await chat.view()
      return (kind === "input" ? usage.inputTokens : usage.outputTokens) === countOf(count)
    },
  "the reply in the thread has (.+)":
    (words = "") =>
    (world) =>
      splitAt(words, /\s+and\s+/).every((word) => {
        const [, type, text] = /the (\w+) `(.*)`$/.exec(word) ?? []
        return (
          lastParts(world)
            .flatMap((part) => (part.type === type && "text" in part ? part.text : []))
            .join("") === text
        )
      }),
  "refused with a typed error": () => (world) => world.errors.some(isTyped) && world.bodies.length === 0,
  "refused as an empty one is": () => async (world) => {
    const [refusal] = world.errors
    world.send("")
    await world.settle()
    const usual = world.errors.at(-1)
    return world.bodies.length === 0 && world.errors.length > 1 && isTyped(usual) && named(refusal) === named(usual)
  },
  "the question is open(?: after [A-Z]'s turn)?":
    () =>
    async ({ chat }) =>
      (await chat.view()).question !== undefined,
  "no tool message has ([A-Z])'s text":
    (name = "") =>
    (world) =>
      !world.texts("tool").some((text) => text.includes(world.said.get(name) ?? "")),
  "([A-Z]) runs after the answer":
    (name = "") =>
    async (world) => {
      if ((await world.chat.view()).question === undefined) return false
      world.send("the answer")
      await world.settle()
      const texts = world.thread.map((message) => Message.text(message))
      const at = texts.lastIndexOf(world.said.get(name) ?? "")
      return (
        at > texts.indexOf("the answer") && texts.includes("the answer") && world.thread[at + 1]?.role === "assistant"
      )
    },
  "one of the (?:\\w+ )?messages is answered with {q}": (text) => (world) =>
    world.page.messages.some(({ role, parts }) => role === "assistant" && valuesAt(parts, "text").includes(text)),
  "one turn": () => (world) => world.bodies.length === 1 && world.texts("user").length === 1,
  "{n} equal answers":
    (count = "") =>
    ({ answers }) =>
      answers.length === countOf(count) && answers.every((answer) => answer === answers[0] && answer.startsWith("200")),
  "a reader can see that the turn waits, and until when": () => async (world) =>
    namesTime(world, await world.chat.view()) || namesTime(world, world.events),
  "it fails with the time in the error": () => (world) =>
    world.results.some(({ metadata }) => namesTime(world, metadata["error"]))
}

/** The joints of phrases, the loosest first; those with `or` join alternatives. */
const joints = [/;\s+or\s+/, /;\s+/, /,\s+or\s+/, /,\s+and\s+/, /:\s+/, /,\s+/]

/** The differences from a right value. */
export const differencesFrom = async (right: string, world: World): Promise<ReadonlyArray<Difference>> => {
  const known = splitAt(right, /;/).length > 1 ? undefined : meaning(phrases, right)
  if (known !== undefined) return (await known.value(world)) ? [] : [{ path: right, message: seenOf(world) }]
  const joint = joints.find((one) => splitAt(right, one).length > 1)
  if (joint === undefined) return [unexamined(right)]
  const found: Array<ReadonlyArray<Difference>> = []
  for (const part of splitAt(right, joint)) found.push(await differencesFrom(part, world))
  return (joint.source.includes("or") ? found.find((one) => one.length === 0) : undefined) ?? found.flat()
}

/** What was seen, in one line. */
const seenOf = (world: World): string => {
  const last = world.results.at(-1)
  const failure = last?.metadata["error"] ?? world.errors.at(-1)
  const thread = world.thread.map((message) => `${message.role}: ${Message.text(message).slice(0, 60)}`)
  const facts = {
    requests: world.bodies.length,
    ended: last?.haltedReason,
    runs: world.runs.length,
    outcomes: world.outcomes,
    thread
  }
  return `seen ${shortened(facts)}${failure === undefined ? "" : ` ${String(failure)}`}`
}
