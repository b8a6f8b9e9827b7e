/**
 * The right value of an input, in words: a table of phrases and their checks.
 *
 * `;` and `,` join phrases that must all hold, and `or` joins alternatives. A phrase that the table does not have is not
 * examined. The laws check every request, so a phrase about well-formed or blank texts only needs the request.
 *
 * @module
 */
import { Message } from "@troupe/chat/messages"
import { fieldsOf, isFields, listOf, textOf } from "../runner/json.ts"
import { type Difference, unexamined } from "../runner/matching.ts"
import { itemsOf, nodesIn, valuesAt } from "./bodies.ts"
import { halfPairsIn, shortened } from "./laws.ts"
import { countOf, meaningOf, splitAt, type Table, UnknownWords } from "./words.ts"
import type { World } from "./world.ts"

const body = (world: World, at: string): string => world.main.bodies[(at === "second" ? 2 : countOf(at)) - 1] ?? ""
const items = (world: World, at: string) => itemsOf(JSON.parse(body(world, at) || "{}"))
const results = (world: World, at: string) => items(world, at).flatMap((item) => item.results.map(({ text }) => text))
const toolFields = (world: World, name: string): ReadonlyArray<string> =>
  valuesAt(world.input["tools"], name).map(textOf)
const inReply = ({ input }: World, key: string) => valuesAt(listOf(input["replies"])[0], key)
const bare = (text: string): string => text.replaceAll(/[\s"\\]/g, "")
const isTyped = (error: unknown): boolean => error instanceof Error && "_tag" in error && "reason" in error
const named = (error: unknown): string => `${textOf(fieldsOf(error)["_tag"])} ${textOf(fieldsOf(error)["reason"])}`
const hasQuestion = async ({ chat }: World): Promise<boolean> => (await chat.view()).question !== undefined
const lastParts = ({ thread }: World) => {
  const last = thread.findLast(({ role }) => role === "assistant")
  return last?.role === "assistant" ? Message.parts(last) : []
}

/** Whether values contain the texts, in this order. */
const inOrder = (values: ReadonlyArray<string>, texts: ReadonlyArray<string>): boolean => {
  let at = -1
  return texts.every((text) => (at = values.findIndex((value, index) => index > at && value.includes(text))) !== -1)
}

/** Whether the last turn completed, and each call too, unless a tool of the input is made to fail. */
const isCompleted = (world: World): boolean =>
  world.results.at(-1)?.haltedReason === "completed" &&
  (/throws|\bdeny\b|\bhalt\b/.test(JSON.stringify(world.input)) ||
    world.outcomes.every((one = "completed") => one === "completed"))

/** How many JSON texts are inside of one another. */
const depthOf = (value: unknown): number => {
  if (typeof value !== "string") return Math.max(0, ...Object.values(fieldsOf(value)).map(depthOf))
  const inner: unknown = /^\s*\{[^]*\}\s*$/.test(value) ? JSON.parse(value) : undefined
  return isFields(inner) ? 1 + depthOf(inner) : 0
}

/** Whether a value names the time of the input's `retry-after`: the end of the wait, or the wait. */
const namesTime = (world: World, value: unknown): boolean => {
  const ms = Number(/retry-after\W+(\d+)/.exec(JSON.stringify(world.input))?.[1]) * 1_000
  const isIt = (time: number): boolean => [ms, ms / 1_000].includes(time) || Math.abs(time - Date.now() - ms) < 60_000
  const shown = value instanceof Error ? [value.message, ...Object.values(value)] : value
  const times = nodesIn(shown).flatMap((node) => [node, Date.parse(textOf(node)), ...textOf(node).split(/\D+/)])
  return times.map(Number).some(isIt)
}

const runsAfterAnswer = async (world: World, name: string): Promise<boolean> => {
  if (!(await hasQuestion(world))) return false
  world.send("the answer")
  await world.settle()
  const texts = world.thread.map((message) => Message.text(message))
  const at = texts.lastIndexOf(world.said.get(name) ?? "")
  return inOrder(texts.slice(0, at), ["the answer"]) && world.thread[at + 1]?.role === "assistant"
}

const ranEach = ({ runs }: World, words: string): boolean => {
  const names = splitAt(words, /,\s+/).flatMap((item) => {
    const [name = "", ...count] = item.split(" ")
    return Array.from({ length: countOf(count.join(" ")) }, () => name)
  })
  const ran = runs.map(({ tool }) => tool)
  return ran.toSorted().join() === names.toSorted().join()
}

const isRefusedAsEmpty = async (world: World): Promise<boolean> => {
  world.send("")
  await world.settle()
  const [refusal, usual] = world.errors
  return world.main.bodies.length === 0 && isTyped(usual) && named(refusal) === named(usual)
}

const hasCutResult = (world: World): boolean =>
  world.texts("tool").some((text) => /cut (?:off|short)|truncat|incomplete|length/i.test(text))

const hasNoAnswer = (world: World): boolean =>
  world.texts("tool").some((text) => /\b(?:no|without an?) (?:\w+ )?(?:answer|text|reply)|empty/i.test(text))

/** Whether the last message of a request is the first reply, with its texts and its blocks. */
const endsWithReply = (world: World, at: string): boolean => {
  const last = items(world, at).at(-1)
  const texts = inReply(world, "delta").flatMap((delta) => valuesAt(delta, "text"))
  const ids = inReply(world, "content_block").flatMap((block) => valuesAt(block, "id"))
  return last?.role === "assistant" && [...texts, ...ids].every((text) => nodesIn(last.raw).includes(text))
}

const providerParts = ({ page }: World): ReadonlyArray<object> => {
  const parts = page.messages.flatMap((one) => one.parts).filter(({ type }) => /^(?:tool-|dynamic-tool)/.test(type))
  return parts.every((part) => "output" in part && Reflect.get(part, "providerExecuted") === true) ? parts : []
}

const hasOneId = (world: World, form: string): boolean => {
  const all = items(world, String(world.main.bodies.length))
  const ids = all.flatMap(({ calls, results: found }) => [...calls, ...found.map(({ id }) => id)])
  return ids.length > 1 && ids.every((id) => id === ids[0] && new RegExp(`^${form}$`).test(id))
}

const hasErrorOnce = (world: World, at: string): boolean => {
  const [output = "", ...more] = results(world, at)
  return more.length === 0 && output.split(toolFields(world, "throws")[0] ?? "").length === 2 && depthOf(output) < 2
}

const repeatsArguments = (world: World, at: string): boolean => {
  const said = inReply(world, "arguments").map(textOf)
  return [said.join(""), ...said].some((text) => text !== "" && bare(body(world, at)).includes(bare(text)))
}

const hasSameKey = (world: World, type: string, at: string, key: string): boolean => {
  const found = items(world, at).find(({ raw }) => raw["type"] === type)?.raw[key]
  return found !== undefined && textOf(found) === textOf(inReply(world, key)[0])
}

const hasParts = (world: World, words: string): boolean =>
  splitAt(words, /\s+and\s+/).every((word) => {
    const [, type, text] = /the (\w+) `(.*)`$/.exec(word) ?? []
    return lastParts(world).some((part) => part.type === type && "text" in part && part.text === text)
  })

const request = "(?:the )?(?:body|input|output|message)?(?: of )?request {n}"

const phrases: Table<boolean | Promise<boolean>, [World]> = {
  "see `outcome`|with default options": () => true,
  "{n} requests?": (world, count) => world.main.bodies.length === countOf(count),
  "{n} requests? in one turn": ({ main, results: [, ...more] }, n) =>
    main.bodies.length === countOf(n) && more.length === 0,
  "text {t}": (world, text) => world.texts("assistant").includes(text),
  "text ends with {t}": (world, text) => world.texts("assistant").join("").endsWith(text),
  "completed(?: with default options|: .*)?": isCompleted,
  "(?:the turn )?(?:ends|ended) with {t}": (world, reason) => world.results.at(-1)?.haltedReason === reason,
  "the file is in the reply": (world) => lastParts(world).some(({ type }) => type === "file" || type === "image"),
  [`${request} has no half surrogate pair.*`]: (world, at) => body(world, at) !== "",
  [`each text of the thread and of ${request} is well-formed`]: (world, at) =>
    body(world, at) !== "" && halfPairsIn(world.thread).length === 0,
  "sent well-formed": (world) => world.main.bodies.length > 0,
  [`no message of ${request} has blank text.*`]: (world, at) => body(world, at) !== "",
  [`${request} has the error once.*`]: hasErrorOnce,
  [`${request} has no {t}`]: (world, at, text) => body(world, at) !== "" && !body(world, at).includes(text),
  [`${request} has its result`]: (world, at) => inOrder(results(world, at), toolFields(world, "returns")),
  [`${request} repeats the text of the model`]: repeatsArguments,
  [`${request} has (.+)`]: (world, at, texts) => inOrder(results(world, at), texts.split(/,\s+(?:then\s+)?/)),
  [`{t} of ${request} has the same {t}`]: hasSameKey,
  "the {w} ends with the assistant's message as it was": endsWithReply,
  "(?:the )?call (?:is )?{t}": (world, outcome) => world.outcomes.includes(outcome),
  "the call of {w} has a result(?: such as {t})?": (world) => world.texts("tool").length > 0,
  "the result of the call says that the answer is cut off": hasCutResult,
  "{t} is not the result of the call": (world, text) => world.texts("tool").some((one) => one !== text),
  "the parent reads that there is no answer": hasNoAnswer,
  "no call for the program.*": ({ results: ended }) =>
    ended.length > 0 && [...valuesAt(ended, "toolCalls"), ...valuesAt(ended, "truncatedToolCalls")].flat().length === 0,
  "a live client sees {n} tool parts? of the provider.*": (world, n) => providerParts(world).length === countOf(n),
  "the handler gets (?:the text )?{q}(?: in some form)?": ({ runs }, q) => nodesIn(runs).map(String).includes(q),
  "{n} calls? with (\\{.*\\})": ({ runs }, count, args) =>
    runs.length === countOf(count) && runs.every((run) => bare(JSON.stringify(run.args)) === bare(args)),
  "(?:it )?(?:runs|ran) {n}": ({ runs }, count) => runs.length === countOf(count),
  "ran: (.+)": ranEach,
  "results in the order (.+)": ({ thread }, ids) =>
    thread.flatMap((one) => (one.role === "tool" ? [one.toolCallId] : [])).join(", ") === ids,
  "call and result have one id of the form (.+)": hasOneId,
  "usage of the chat has {n} (input|output) tokens": async ({ chat }, count, kind) =>
    fieldsOf((await chat.view()).usage)[`${kind}Tokens`] === countOf(count),
  "the reply in the thread has (.+)": hasParts,
  "refused with a typed error": (world) => world.errors.some(isTyped) && world.main.bodies.length === 0,
  "refused as an empty one is": isRefusedAsEmpty,
  "the question is open(?: after [A-Z]'s turn)?": hasQuestion,
  "no tool message has ([A-Z])'s text": (world, name) => !inOrder(world.texts("tool"), [world.said.get(name) ?? ""]),
  "([A-Z]) runs after the answer": runsAfterAnswer,
  "one of the (?:\\w+ )?messages is answered with {t}": ({ page }, text) =>
    page.messages.some(({ role, parts }) => role === "assistant" && valuesAt(parts, "text").includes(text)),
  "one turn": (world) => world.main.bodies.length === 1 && world.texts("user").length === 1,
  "{n} equal answers": ({ answers }, count) =>
    answers.length === countOf(count) && answers.every((answer) => answer === answers[0] && answer.startsWith("200")),
  "a reader can see that the turn waits, and until when": async (world) =>
    namesTime(world, await world.chat.view()) || namesTime(world, world.events),
  "it fails with the time in the error": (world) => namesTime(world, world.results.at(-1)?.metadata["error"])
}

/** The joints of phrases, the loosest first; those with `or` join alternatives. */
const joints = [/;\s+or\s+/, /;\s+/, /,\s+or\s+/, /,\s+and\s+/, /:\s+/, /,\s+/]

/** The differences from a right value. A phrase with a `;` is several phrases. */
export const differencesFrom = async (right: string, world: World): Promise<ReadonlyArray<Difference>> => {
  try {
    if (splitAt(right, /;/).length > 1) throw new UnknownWords("a list")
    return (await meaningOf(phrases, right, world)) ? [] : [{ path: right, message: seenOf(world) }]
  } catch (error) {
    if (!(error instanceof UnknownWords)) throw error
  }
  const joint = joints.find((one) => splitAt(right, one).length > 1)
  if (joint === undefined) return [unexamined(right)]
  const found: Array<ReadonlyArray<Difference>> = []
  for (const part of splitAt(right, joint)) found.push(await differencesFrom(part, world))
  return (joint.source.includes("or") ? found.find((one) => one.length === 0) : undefined) ?? found.flat()
}

/** What was seen, in one line. */
const seenOf = ({ main, results: ended, runs, outcomes, thread, errors }: World): string => {
  const texts = thread.map((message) => `${message.role}: ${Message.text(message).slice(0, 60)}`)
  const last = ended.at(-1)
  const counts = `seen ${main.bodies.length} requests, ${runs.length} runs, ${last?.haltedReason}`
  const error = last?.metadata["error"] ?? errors[0]
  return `${counts}, ${shortened([outcomes, texts])}${error instanceof Error ? ` ${error.message}` : ""}`
}
