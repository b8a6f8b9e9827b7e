/**
 * The right value of an input, in words: a table of phrases and their checks.
 *
 * `;` and `,` join phrases that must all hold; `or` joins alternatives. A phrase that the table does not have is not
 * examined.
 *
 * @module
 */
import { Message } from "@troupe/chat/messages"
import { fieldsOf, listOf, textOf } from "../runner/fields.ts"
import { type Difference, unexamined } from "../runner/matching.ts"
import { blanksOf, halfPairsIn, shortened } from "./laws.ts"
import { itemsOf, textsIn, valuesAt } from "./bodies.ts"
import { pageText } from "./page.ts"
import { countOf, meaning, type Phrases, splitAt, unquoted } from "./words.ts"
import { chatId, type World } from "./world.ts"

type Check = (world: World) => boolean | Promise<boolean>

const replies = ({ thread }: World): ReadonlyArray<Message.Message> => thread.filter(({ role }) => role === "assistant")
const toolTexts = ({ thread }: World): ReadonlyArray<string> =>
  thread.filter(({ role }) => role === "tool").map((message) => Message.text(message))
const outcomes = ({ thread }: World): ReadonlyArray<unknown> =>
  thread.flatMap((message) => (message.role === "tool" ? [message.outcome] : []))
const request = (world: World, number: string | undefined) => fieldsOf(world.models.main.requests[countOf(number) - 1])
const resultsOf = (world: World, number: string | undefined): ReadonlyArray<string> =>
  itemsOf(request(world, number)).flatMap(({ results }) => results.map(({ text }) => text))
const reply = (world: World, at: number): ReadonlyArray<unknown> => listOf(listOf(world.input["replies"])[at])
const compact = (text: string): string => text.replaceAll(/\s/g, "")

/** The text of a reply's frames, in any dialect. */
const textOfFrames = (frames: ReadonlyArray<unknown>): string =>
  frames
    .flatMap((frame) => [...valuesAt(frame, "delta"), ...valuesAt(frame, "parts")])
    .flatMap((delta) =>
      typeof delta === "string" ? [delta] : [...valuesAt(delta, "text"), ...valuesAt(delta, "content")]
    )
    .filter((text) => typeof text === "string")
    .join("")

/** Whether the texts are among the values, in this order. */
const inOrder = (values: ReadonlyArray<string>, texts: ReadonlyArray<string>): boolean => {
  let at = -1
  return texts.every((text) => (at = values.findIndex((value, index) => index > at && value.includes(text))) !== -1)
}

/** How deep JSON texts are inside of one another. */
const depthOf = (value: unknown): number => {
  if (typeof value !== "string") return Math.max(0, ...Object.values(fieldsOf(value)).map(depthOf))
  try {
    const inner: unknown = JSON.parse(value)
    return typeof inner === "object" && inner !== null ? 1 + depthOf(inner) : 0
  } catch {
    return 0
  }
}

/** Whether the last turn completed, and each call too whose tool is not made to fail. */
const isCompleted = (world: World): boolean => {
  const isMadeToFail = /throws|\bdeny\b|\bhalt\b/.test(JSON.stringify(world.input))
  const isWhole = isMadeToFail || outcomes(world).every((outcome) => outcome === "completed")
  return world.results.at(-1)?.haltedReason === "completed" && isWhole
}

const isTyped = (error: unknown): boolean => error instanceof Error && "_tag" in error && "reason" in error
const isRefused = ({ errors, models }: World): boolean => errors.some(isTyped) && models.main.requests.length === 0

/** Sends another input to a chat of its own, and resolves with the errors that it caused. */
const errorsOf = async (world: World, text: string): Promise<ReadonlyArray<unknown>> => {
  const before = world.errors.length
  const chat = await world.troupe.chat(`${chatId}-2`)
  world.send(text, chat)
  return world.errors.slice(before)
}

/** Whether a value names a time about `ms` from now, as a number, a date, or the wait itself. */
const namesTime = (value: unknown, ms: number): boolean => {
  const near = (time: number): boolean => Math.abs(time - Date.now() - ms) < 60_000
  if (typeof value === "number") return near(value) || value === ms || value === ms / 1_000
  if (typeof value === "string")
    return near(Date.parse(value)) || new RegExp(`\\b${ms}\\b|\\b${ms / 1_000}\\b|\\b1 h`).test(value)
  if (value instanceof Error) return namesTime({ ...value, message: value.message }, ms)
  return typeof value === "object" && value !== null && Object.values(value).some((one) => namesTime(one, ms))
}

const retryAfterMs = ({ input }: World): number =>
  Number(/retry-after\W+(\d+)/.exec(JSON.stringify(input))?.[1] ?? 0) * 1_000

const phrases: Phrases<Check> = [
  [/^see `outcome`$/, () => () => true],
  [/^with default options$/, () => () => true],
  [
    /^(?<count>\w+) requests?(?<turn> in one turn)?$/,
    ({ count, turn }) =>
      ({ models, results }) =>
        models.main.requests.length === countOf(count) && (turn === undefined || results.length === 1)
  ],
  [
    /^text (?<text>`[^`]*`)$/,
    ({ text = "" }) =>
      (world) =>
        replies(world).some((one) => Message.text(one) === unquoted(text))
  ],
  [
    /^text ends with (?<text>`[^`]*`)$/,
    ({ text = "" }) =>
      (world) =>
        replies(world).at(-1) !== undefined && replies(world).map(Message.text).join("").endsWith(unquoted(text))
  ],
  [
    /^completed(?: with default options|: .*)?$/,
    () =>
      ({ results }) =>
        results.at(-1)?.haltedReason === "completed"
  ],
  [/^the file is in the reply$/, () => (world) => JSON.stringify(replies(world).at(-1) ?? "").includes("base64")],
  [
    /^the (?:body|input|output) of request (?<at>\d+) has no (?<text>`[^`]*`)$/,
    ({ at, text = "" }) =>
      (world) =>
        itemsOf(request(world, at)).length > 0 && !JSON.stringify(request(world, at)).includes(unquoted(text))
  ],
  [
    /^no message of request (?<at>\d+) has blank text as its only content$/,
    ({ at }) =>
      (world) =>
        itemsOf(request(world, at)).length > 0 && blanksOf(request(world, at)).length === 0
  ],
  [
    /^the output of request (?<at>\d+) has the error once/,
    ({ at }) =>
      (world) => {
        const [output = "", ...more] = resultsOf(world, at)
        const thrown = textOf(Object.values(fieldsOf(world.input["tools"])).map((tool) => fieldsOf(tool)["throws"])[0])
        return more.length === 0 && output.split(thrown).length === 2 && depthOf(output) < 2
      }
  ],
  [
    /^request (?<at>\d+) has its result$/,
    ({ at }) =>
      (world) => {
        const returned = Object.values(fieldsOf(world.input["tools"])).map((tool) => textOf(fieldsOf(tool)["returns"]))
        return inOrder(resultsOf(world, at), returned)
      }
  ],
  [
    /^request (?<at>\d+) repeats the text of the model$/,
    ({ at }) =>
      (world) => {
        const said = valuesAt(reply(world, 0), "arguments").map(textOf).join("")
        return valuesAt(request(world, at), "arguments").some((text) => compact(textOf(text)) === compact(said))
      }
  ],
  [
    /^request (?<at>\d+) has (?<texts>.+)$/,
    ({ at, texts = "" }) =>
      (world) =>
        inOrder(resultsOf(world, at), splitAt(texts, /,\s+(?:then\s+)?/).map(unquoted))
  ],
  [
    /^`(?<type>\w+)` of request (?<at>\d+) has the same `(?<key>\w+)`$/,
    ({ type, at, key = "" }) =>
      (world) => {
        const found = itemsOf(request(world, at)).find(({ raw }) => raw["type"] === type)
        const [said] = valuesAt(reply(world, 0), key)
        return found !== undefined && said !== undefined && JSON.stringify(found.raw[key]) === JSON.stringify(said)
      }
  ],
  [
    /^the (?<at>second|third|last) ends with the assistant's message as it was$/,
    ({ at }) =>
      (world) => {
        const { requests } = world.models.main
        const last = itemsOf(fieldsOf(at === "last" ? requests.at(-1) : requests[at === "second" ? 1 : 2])).at(-1)
        const ids = valuesAt(reply(world, 0), "content_block").flatMap((block) => valuesAt(block, "id"))
        return (
          last !== undefined &&
          ["assistant", "model"].includes(last.role) &&
          last.texts.join("") === textOfFrames(reply(world, 0)) &&
          ids.every((id) => textsIn(last.raw).includes(textOf(id)))
        )
      }
  ],
  [
    /^(?:the )?call (?:is )?`(?<outcome>\w+)`$/,
    ({ outcome }) =>
      (world) =>
        outcomes(world).includes(outcome)
  ],
  [
    /half surrogate pair|well-formed/,
    (_, words) => (world) => {
      const { requests } = world.models.main
      const read = [...words.matchAll(/request (\d+)/g)].map(([, at]) => request(world, at))
      const bodies = read.length === 0 ? requests : read
      const isSent = bodies.length > 0 && bodies.every((body) => itemsOf(body).length > 0)
      return isSent && halfPairsIn([bodies, words.includes("thread") ? world.thread : []]).length === 0
    }
  ],
  [
    /^the call of (?<name>\w+) has a result(?: such as `[^`]*`)?$/,
    ({ name }) =>
      ({ thread }) => {
        const ids = thread.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
        const id = ids.find((call) => call.name === name)?.id
        return thread.some((message) => message.role === "tool" && message.toolCallId === id)
      }
  ],
  [
    /^the result of the call says that the answer is cut off$/,
    () => (world) => toolTexts(world).some((text) => /cut (?:off|short)|truncat|incomplete|length/i.test(text))
  ],
  [
    /^(?<text>`[^`]*`) is not the result of the call$/,
    ({ text = "" }) =>
      (world) =>
        !toolTexts(world).includes(unquoted(text))
  ],
  [
    /^the parent reads that there is no answer$/,
    () => (world) =>
      toolTexts(world).some((text) =>
        /\bno (?:\w+ )?(?:answer|text|reply)|without (?:an? )?(?:\w+ )?(?:answer|text)|empty/i.test(text)
      )
  ],
  [
    /^no call for the program/,
    () =>
      ({ results }) => {
        const steps = results.flatMap((result) => result.steps)
        return (
          steps.length > 0 &&
          steps.every((step) => step.response.toolCalls.length + step.truncatedToolCalls.length === 0)
        )
      }
  ],
  [
    /^a live client sees (?<count>\w+) tool parts? of the provider with (?:its|their) outputs?$/,
    ({ count }) =>
      (world) => {
        const parts = world
          .page()
          .messages.flatMap((message) => message.parts)
          .filter(({ type }) => /^(?:tool-|dynamic-tool)/.test(type))
        const isRun = (part: object): boolean =>
          "output" in part && "providerExecuted" in part && part.providerExecuted === true
        return parts.length === countOf(count) && parts.every(isRun)
      }
  ],
  [
    /^the handler gets (?:the text )?(?<value>`[^`]*`|\S+)(?: in some form)?$/,
    ({ value = "" }) =>
      ({ runs }) =>
        runs.some(({ args }) => [args, ...Object.values(fieldsOf(args))].some((one) => String(one) === unquoted(value)))
  ],
  [
    /^(?<count>\w+) calls? with (?<args>\{.*\})$/,
    ({ count, args = "" }) =>
      ({ runs }) =>
        runs.length === countOf(count) &&
        runs.every((run) => compact(JSON.stringify(run.args)).replaceAll('"', "") === compact(args).replaceAll('"', ""))
  ],
  [
    /^(?:it )?runs (?<count>once|twice|\w+ times|never)$/,
    ({ count }) =>
      ({ runs }) =>
        runs.length === countOf(count)
  ],
  [
    /^ran: (?<items>.+)$/,
    ({ items = "" }) =>
      ({ runs }) => {
        const wanted = splitAt(items, /,\s+/).map((item) => /^(\S+) (.+)$/.exec(item) ?? [])
        const counts = Object.fromEntries(wanted.map(([, name = "", count]) => [name, countOf(count)]))
        return [...Object.keys(counts), ...runs.map(({ tool }) => tool)].every(
          (name) => runs.filter(({ tool }) => tool === name).length === (counts[name] ?? 0)
        )
      }
  ],
  [
    /^results in the order (?<ids>.+)$/,
    ({ ids = "" }) =>
      ({ thread }) =>
        thread.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : [])).join() ===
        splitAt(ids, /,\s+/).join()
  ],
  [
    /^call and result have one id of the form (?<form>.+)$/,
    ({ form = "" }) =>
      ({ models }) => {
        const items = itemsOf(fieldsOf(models.main.requests.at(-1)))
        const ids = items.flatMap(({ calls, results }) => [...calls, ...results.map(({ id }) => id)])
        return ids.length > 1 && ids.every((id) => id === ids[0] && new RegExp(`^${form}$`).test(id))
      }
  ],
  [
    /^usage of the chat has (?<count>[\d,]+) (?<kind>input|output) tokens$/,
    ({ count, kind }) =>
      async ({ chat }) => {
        const { usage } = await chat.view()
        return (kind === "input" ? usage.inputTokens : usage.outputTokens) === countOf(count)
      }
  ],
  [
    /^the reply in the thread has (?<parts>.+)$/,
    ({ parts = "" }) =>
      (world) => {
        const last = replies(world).at(-1)
        const kept = last?.role === "assistant" ? Message.parts(last) : []
        return [...parts.matchAll(/(reasoning|text) (`[^`]*`)/g)].every(([, type, text = ""]) => {
          const texts = kept.flatMap((part) => (part.type === type && "text" in part ? [part.text] : []))
          return texts.join("") === unquoted(text)
        })
      }
  ],
  [
    /^state (?<state>\w+)$/,
    ({ state }) =>
      ({ states }) =>
        states.at(-1) === state
  ],
  [/^refused with a typed error$/, () => isRefused],
  [
    /^refused as an empty one is$/,
    () => async (world) => {
      const named = (error: unknown) => `${String(fieldsOf(error)["_tag"])} ${String(fieldsOf(error)["reason"])}`
      const [refusal] = world.errors
      const [usual] = await errorsOf(world, "")
      return isRefused(world) && usual !== undefined && named(refusal) === named(usual)
    }
  ],
  [
    /^the question is open(?: after \w's turn)?$/,
    () =>
      async ({ chat }) =>
        (await chat.view()).question !== undefined
  ],
  [
    /^no tool message has (?<name>[A-Z])'s text$/,
    ({ name = "" }) =>
      (world) =>
        !toolTexts(world).some((text) => text.includes(world.said.get(name) ?? ""))
  ],
  [
    /^(?<name>[A-Z]) runs after the answer$/,
    ({ name = "" }) =>
      async (world) => {
        if ((await world.chat.view()).question === undefined) return false
        world.send("the answer")
        await world.settle()
        const texts = world.thread.map((message) => Message.text(message))
        const at = texts.lastIndexOf(world.said.get(name) ?? "")
        return (
          at > texts.indexOf("the answer") && texts.includes("the answer") && world.thread[at + 1]?.role === "assistant"
        )
      }
  ],
  [
    /^one of the (?:\w+ )?messages is answered with (?<text>`[^`]*`)$/,
    ({ text = "" }) =>
      (world) =>
        world.page().messages.some((message) => message.role === "assistant" && pageText(message) === unquoted(text))
  ],
  [
    /^one turn$/,
    () =>
      ({ models, thread }) =>
        models.main.requests.length === 1 && thread.filter(({ role }) => role === "user").length === 1
  ],
  [
    /^(?<count>\w+) equal answers$/,
    ({ count }) =>
      ({ answers }) =>
        answers.length === countOf(count) && new Set(answers).size === 1 && /^200 /.test(answers[0] ?? "")
  ],
  [
    /^a reader can see that the turn waits, and until when$/,
    () => async (world) =>
      namesTime(await world.chat.view(), retryAfterMs(world)) ||
      world.events.some((event) => namesTime(event, retryAfterMs(world)))
  ],
  [
    /^it fails with the time in the error$/,
    () => async (world) =>
      (await world.isAtRest()) &&
      world.results.some(({ metadata }) => namesTime(metadata["error"], retryAfterMs(world)))
  ]
]

/** The differences from a right value. */
export const differencesFrom = async (right: string, world: World): Promise<ReadonlyArray<Difference>> => {
  const words = right.trim()
  const known = splitAt(words, /;/).length > 1 ? undefined : meaning(phrases, words)
  if (known !== undefined) return (await known.value(world)) ? [] : [{ path: words, message: seenOf(world) }]
  for (const [separator, isAlternative] of joints) {
    const parts = splitAt(words, separator)
    if (parts.length === 1) continue
    const found: Array<ReadonlyArray<Difference>> = []
    for (const part of parts) found.push(await differencesFrom(part, world))
    return isAlternative ? found.reduce(better) : found.flat()
  }
  return [unexamined(words)]
}

/** The joints of phrases, the loosest first, and whether they join alternatives. */
const joints: ReadonlyArray<readonly [RegExp, boolean]> = [
  [/;\s+or\s+/, true],
  [/;\s+/, false],
  [/,\s+or\s+/, true],
  [/,\s+and\s+/, false],
  [/:\s+/, false],
  [/,\s+/, false]
]

const better = (one: ReadonlyArray<Difference>, other: ReadonlyArray<Difference>): ReadonlyArray<Difference> =>
  one.length === 0 ? one : other

/** What was seen, in one line. */
const seenOf = (world: World): string => {
  const { models, results, errors, runs, states } = world
  const failure = results.at(-1)?.metadata["error"] ?? errors.at(-1)
  const facts = {
    requests: models.main.requests.length,
    ended: results.at(-1)?.haltedReason,
    thread: world.thread.map((message) => `${message.role}: ${Message.text(message).slice(0, 60)}`),
    outcomes: outcomes(world),
    runs: runs.length,
    ...(states.length === 0 ? {} : { states }),
    ...(failure === undefined ? {} : { error: String(failure) })
  }
  return `seen ${shortened(facts)}`
}
