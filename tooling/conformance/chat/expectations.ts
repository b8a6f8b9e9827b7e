/** Compares an outcome with a case's `then`, facet by facet. */
import { isEvent } from "../../../packages/chat/src/events/Event.ts"
import { type Fields, fieldsOf, listOf, textOf } from "../runner/fields.ts"
import { at, type Difference, differences, matches, type Scope, unexamined } from "../runner/matching.ts"
import { failureForm, isScripted, type Outcome, returnable, type StreamOutcome } from "./outcome.ts"
import { camel, neutral } from "./values/plain.ts"

type Found = ReadonlyArray<Difference>

/** The differences from the expectation. */
export const unmet = (outcome: Outcome, then: Fields, given: Fields): Found => {
  const scope: Scope = { outcome, given }
  const { failure, stream } = outcome
  const unexpected = failures.some((facet) => facet in then) ? undefined : (failure ?? stream?.failure)
  const ending = fails(unexpected !== undefined, `failed with ${saying(unexpected)}`, "failure")
  return [
    ...ending,
    ...Object.entries(then).flatMap(([facet, expected]) => {
      const check = facets[facet]
      if (check !== undefined) return below(facet, check(outcome, expected, scope))
      const ofStream = streamFacets[facet]
      if (ofStream !== undefined && stream !== undefined) return below(facet, ofStream(stream, expected, scope))
      if (ofStream !== undefined) return fails(ending.length === 0, "there is no stream", facet)
      if (trueFacets.has(facet))
        return fails(outcome[camel(facet)] !== expected, `is ${textOf(outcome[camel(facet)])}`, facet)
      return equalFacets.has(facet)
        ? below(facet, differences(outcome[renames[facet] ?? camel(facet)], expected, scope))
        : [unexamined(facet)]
    })
  ]
}

const below = (facet: string, found: Found): Found =>
  found.map((one) => ({ ...one, path: one.path === "" ? facet : `${facet}.${one.path}` }))

const fails = (condition: boolean, message: string, path = ""): Found => (condition ? [{ path, message }] : [])

/** The expectations of a failure. */
const failures = ["error", "error_value", "raises", "raises_on_iterate", "no_throw"]

const saying = (failure: unknown): string =>
  failure instanceof Error ? `${failure.name}: ${failure.message}` : textOf(failure)

type Facet<O = Outcome> = (outcome: O, expected: unknown, scope: Scope) => Found

/** Facets that are compared as they are, under their own names. */
const equalFacets: ReadonlySet<string> = new Set(
  (
    "adapter_opts_seen recorded calls policy_calls peak_concurrency requests cleanup_runs elapsed_ms cursor_index state response step_result " +
    "chat_result result session reducer attempts notices retry_notices json"
  ).split(" ")
)

const renames: Readonly<Record<string, string>> = { adapter_opts_seen: "adapterOptions", recorded: "requests" }

/** Facets that hold or not. */
const trueFacets: ReadonlySet<string> = new Set(
  "reducer_unchanged reducer_session_unchanged finalize_equal equals_singles equal unchanged deterministic".split(" ")
)

/** A raise is a rejection. The message of a case's own exception is compared; our own errors have other messages. */
const raisedBy = (failure: unknown, expected: unknown): Found => {
  if (failure === undefined) return [{ path: "", message: "nothing was raised", theirs: expected }]
  const { type, message_matches: pattern = "" } = fieldsOf(expected)
  const isOwn = type === "RuntimeError"
  const says = !isOwn || new RegExp(textOf(pattern)).test(saying(failure).replace(/^\w+: /, ""))
  return fails(isOwn !== isScripted(failure) || !says, `raised ${saying(failure)}`)
}

const facets: Readonly<Record<string, Facet>> = {
  ok: ({ ok, failure }, expected, scope) =>
    failure !== undefined || expected === true ? [] : differences(ok, expected, scope),
  value: ({ value, failure }, expected, scope) => (failure === undefined ? differences(value, expected, scope) : []),
  error: ({ failure }, expected, scope) => {
    if (failure === undefined) return [{ path: "", message: "the call did not fail", theirs: expected }]
    if (!returnable(failure)) return [{ path: "", message: `raised ${saying(failure)}` }]
    return differences(failureForm(failure), expected, scope)
  },
  error_value: ({ failure }, expected, scope) => differences(neutral(failure), expected, scope),
  raises: ({ failure }, expected) => raisedBy(failure, expected),
  raises_on_iterate: ({ stream }, expected) => raisedBy(stream?.failure, expected),
  no_throw: ({ failure }) => fails(failure !== undefined, `raised ${saying(failure)}`),
  policy_call_count: ({ policyCalls }, expected, scope) => differences(listOf(policyCalls).length, expected, scope),
  equivalent: ({ sides }, _, scope) => {
    const [left, right] = listOf(sides)
    return differences(right, { $exact: left }, scope)
  },
  equivalent_fields: ({ sides }, expected, scope) => {
    const [left, right] = listOf(sides)
    const value = (side: unknown, path: string) => (path === "" ? side : at(side, path))
    return listOf(expected)
      .map(textOf)
      .flatMap((path) => differences(value(right, path), { $exact: value(left, path) ?? null }, scope, path))
  },
  observed_include_tags: ({ observedTags }, expected) => having(true, listOf(observedTags), expected),
  observed_exclude_tags: ({ observedTags }, expected) => having(false, listOf(observedTags), expected)
}

const having = (
  isExpected: boolean,
  all: ReadonlyArray<unknown>,
  expected: unknown,
  is = (one: unknown, required: unknown) => one === required
): Found =>
  listOf(expected).flatMap((required) =>
    fails(
      all.some((one) => is(one, required)) !== isExpected,
      `${isExpected ? "has no" : "has"} ${JSON.stringify(required)}`
    )
  )

const tagsOf = ({ events }: StreamOutcome): ReadonlyArray<string> => events.map(([tag]) => tag)

const idOf = (payload: unknown): unknown => fieldsOf(payload)["id"] ?? fieldsOf(payload)["tool_call_id"]

const idsOf = ({ events }: StreamOutcome, tag: string): ReadonlyArray<unknown> =>
  events.filter(([found]) => found === tag).map(([, payload]) => idOf(payload))

/** Expectations by tag. */
const byTag = (expected: unknown, check: (tag: string, required: unknown) => Found): Found =>
  Object.entries(fieldsOf(expected)).flatMap(([tag, required]) => check(tag, required))

const streamFacets: Readonly<Record<string, Facet<StreamOutcome>>> = {
  tags: (stream, expected, scope) => differences(tagsOf(stream), expected, scope),
  events: ({ events }, expected, scope) => differences(events, expected, scope),
  event_count: ({ events }, expected, scope) => differences(events.length, expected, scope),
  last: ({ events }, expected, scope) => differences(events.at(-1), expected, scope),
  all_events_valid: ({ raw }) => fails(!raw.every(isEvent), "not every event is one"),
  include: ({ events }, expected, scope) => having(true, events, expected, (one, other) => matches(one, other, scope)),
  exclude: ({ events }, expected, scope) => having(false, events, expected, (one, other) => matches(one, other, scope)),
  include_tags: (stream, expected) => having(true, tagsOf(stream), expected),
  exclude_tags: (stream, expected) => having(false, tagsOf(stream), expected),
  include_in_order: ({ events }, expected, scope) => {
    let from = 0
    return listOf(expected).flatMap((required) => {
      const found = events.findIndex((event, index) => index >= from && matches(event, required, scope))
      from = found + 1
      return fails(found === -1, `has no ${JSON.stringify(required)} in its place`)
    })
  },
  counts: (stream, expected, scope) =>
    byTag(expected, (tag, count) => differences(idsOf(stream, tag).length, count, scope, tag)),
  ids: (stream, expected, scope) => byTag(expected, (tag, ids) => differences(idsOf(stream, tag), ids, scope, tag)),
  encoded_order: (stream, expected, scope) => differences(idsOf(stream, "tool_result_encoded"), expected, scope),
  equal_counts: (stream, expected) =>
    fails(new Set(listOf(expected).map((tag) => idsOf(stream, textOf(tag)).length)).size > 1, "the counts differ"),
  phase_order: (stream, expected) => {
    const [first, second] = listOf(expected).map(listOf)
    const lastOfFirst = tagsOf(stream).findLastIndex((tag) => first?.includes(tag))
    const firstOfSecond = tagsOf(stream).findIndex((tag) => second?.includes(tag))
    return fails(firstOfSecond !== -1 && firstOfSecond < lastOfFirst, "the phases overlap")
  },
  per_id: ({ events }, expected, scope) => {
    const { ids, tags } = fieldsOf(expected)
    return listOf(ids).flatMap((id) => {
      const own = events.filter(([tag, payload]) => listOf(tags).includes(tag) && idOf(payload) === id)
      return differences(
        Array.from(own, ([tag]) => tag),
        tags,
        scope,
        textOf(id)
      )
    })
  },
  contiguous_groups: ({ events }) => {
    const ids = events.filter(([tag]) => toolTags.has(tag)).map(([, payload]) => idOf(payload))
    const isMixed = ids.some((id, index) => ids[index - 1] !== id && ids.indexOf(id) < index)
    return fails(isMixed, "the groups are mixed")
  },
  adjacent: (stream, expected) => {
    const [first, second] = listOf(expected)
    const tags = tagsOf(stream)
    return fails(tags[tags.indexOf(textOf(first)) + 1] !== second, `${textOf(second)} does not follow`)
  },
  after_first: (stream, expected) => {
    const [first, second] = listOf(expected).map(textOf)
    const later = tagsOf(stream).slice(tagsOf(stream).indexOf(first ?? "") + 1)
    return fails(!later.includes(second ?? ""), `${second} does not come`)
  },
  every: ({ events }, expected, scope) =>
    listOf(expected)
      .map(listOf)
      .flatMap(([name, required]) =>
        events.flatMap(([tag, payload]) => (tag === name ? differences(payload, required, scope, tag) : []))
      )
}

const toolTags: ReadonlySet<string> = new Set(
  "tool_execution_started tool_execution_completed tool_result_encoded ask_user_requested tool_halt".split(" ")
)
