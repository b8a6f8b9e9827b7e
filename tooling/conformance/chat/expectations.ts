/** Compares an outcome with a case's `then`, facet by facet. */
import { isEvent } from "../../../packages/chat/src/events/Event.ts"
import { type Fields, fieldsOf, listOf, textOf } from "../runner/fields.ts"
import { type Difference, differences, matches, type Scope, unexamined } from "../runner/matching.ts"
import { neutral } from "./values/toNeutral.ts"
import { failureForm, isScripted, type Outcome, returnable, type StreamOutcome } from "./outcome.ts"

/** The differences from the expectation. */
export const unmet = (outcome: Outcome, then: Fields, given: Fields): ReadonlyArray<Difference> => {
  const scope: Scope = { outcome, given }
  const mayFail = failures.some((facet) => facet in then)
  const ending = mayFail ? [] : unexpectedFailure(outcome)
  return [
    ...ending,
    ...Object.entries(then).flatMap(([facet, expected]) => {
      const check = facets[facet]
      if (check !== undefined) return prefixed(facet, check(outcome, expected, scope))
      const ofStream = streamFacets[facet]
      if (ofStream === undefined) return [unexamined(facet)]
      if (outcome.stream === undefined) return ending.length > 0 ? [] : [{ path: facet, message: "there is no stream" }]
      return prefixed(facet, ofStream(outcome.stream, expected, scope))
    })
  ]
}

/** The expectations of a failure. */
const failures = ["error", "error_value", "raises", "raises_on_iterate", "no_throw"]

const prefixed = (facet: string, found: ReadonlyArray<Difference>): ReadonlyArray<Difference> =>
  found.map((one) => ({ ...one, path: one.path === "" ? facet : `${facet}.${one.path}` }))

const unexpectedFailure = ({ failure, stream }: Outcome): ReadonlyArray<Difference> => {
  const found = failure ?? stream?.failure
  return found === undefined ? [] : [{ path: "failure", message: `failed with ${saying(found)}` }]
}

const saying = (failure: unknown): string =>
  failure instanceof Error ? `${failure.name}: ${failure.message}` : textOf(failure)

type Facet = (outcome: Outcome, expected: unknown, scope: Scope) => ReadonlyArray<Difference>

const equals =
  (facet: string): Facet =>
  (outcome, expected, scope) =>
    differences(outcome[facet], expected, scope)

const holds =
  (facet: string): Facet =>
  (outcome, expected) =>
    outcome[facet] === expected ? [] : [{ path: "", message: `is ${textOf(outcome[facet])}` }]

const returned: Facet = ({ failure }, expected, scope) => {
  if (failure === undefined) return [{ path: "", message: "the call did not fail", theirs: expected }]
  if (!returnable(failure)) return [{ path: "", message: `raised ${saying(failure)}` }]
  return differences(failureForm(failure), expected, scope)
}

/**
 * A raise is a rejection. The message of a case's own exception is compared; our own errors have other messages.
 */
const raised: Facet = ({ failure }, expected) => raisedBy(failure, expected)

const raisedBy = (failure: unknown, expected: unknown): ReadonlyArray<Difference> => {
  if (failure === undefined) return [{ path: "", message: "nothing was raised", theirs: expected }]
  const { type, message_matches: pattern } = fieldsOf(expected)
  const scripted = type === "RuntimeError"
  if (scripted !== isScripted(failure)) return [{ path: "", message: `raised ${saying(failure)}` }]
  if (!scripted || pattern === undefined || new RegExp(textOf(pattern)).test(saying(failure).replace(/^\w+: /, "")))
    return []
  return [{ path: "", message: `raised ${saying(failure)}` }]
}

const facets: Readonly<Record<string, Facet>> = {
  ok: ({ ok, failure }, expected, scope) => {
    if (failure !== undefined) return []
    return expected === true ? [] : differences(ok, expected, scope)
  },
  value: ({ value, failure }, expected, scope) => (failure === undefined ? differences(value, expected, scope) : []),
  error: returned,
  error_value: ({ failure }, expected, scope) => differences(neutral(failure), expected, scope),
  raises: raised,
  raises_on_iterate: ({ stream }, expected) => raisedBy(stream?.failure, expected),
  calls: equals("calls"),
  policy_calls: equals("policyCalls"),
  policy_call_count: ({ policyCalls }, expected, scope) => differences(listOf(policyCalls).length, expected, scope),
  peak_concurrency: equals("peakConcurrency"),
  requests: equals("requests"),
  adapter_opts_seen: equals("adapterOptions"),
  recorded: equals("requests"),
  cleanup_runs: equals("cleanupRuns"),
  elapsed_ms: equals("elapsedMs"),
  cursor_index: equals("cursorIndex"),
  state: equals("state"),
  response: equals("response"),
  step_result: equals("stepResult"),
  chat_result: equals("chatResult"),
  result: equals("result"),
  session: equals("session"),
  reducer: equals("reducer"),
  reducer_unchanged: holds("reducerUnchanged"),
  reducer_session_unchanged: holds("reducerSessionUnchanged"),
  finalize_equal: holds("finalizeEqual"),
  equals_singles: holds("equalsSingles"),
  attempts: equals("attempts"),
  notices: equals("notices"),
  retry_notices: equals("retryNotices"),
  json: equals("json"),
  equal: holds("equal"),
  unchanged: holds("unchanged"),
  no_throw: ({ failure }) => (failure === undefined ? [] : [{ path: "", message: `raised ${saying(failure)}` }]),
  deterministic: holds("deterministic"),
  equivalent: ({ sides }, _, scope) => {
    const [left, right] = listOf(sides)
    return differences(right, { $exact: left }, scope)
  },
  equivalent_fields: ({ sides }, expected, scope) => {
    const [left, right] = listOf(sides)
    return listOf(expected).flatMap((path) => {
      const of = (side: unknown) => ({ outcome: fieldsOf(side), given: {} })
      const value = (side: unknown) => (path === "" ? side : reach(side, textOf(path)))
      return differences(value(right), { $exact: value(left) ?? null }, of(scope), textOf(path))
    })
  },
  observed_include_tags: ({ observedTags }, expected) => including(listOf(observedTags), expected),
  observed_exclude_tags: ({ observedTags }, expected) => excluding(listOf(observedTags), expected)
}

const reach = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((here, step) => {
    if (Array.isArray(here)) return step === "length" ? here.length : here.at(Number(step))
    return fieldsOf(here)[step]
  }, value)

const including = (tags: ReadonlyArray<unknown>, expected: unknown): ReadonlyArray<Difference> =>
  listOf(expected)
    .filter((tag) => !tags.includes(tag))
    .map((tag) => ({ path: textOf(tag), message: "is missing" }))

const excluding = (tags: ReadonlyArray<unknown>, expected: unknown): ReadonlyArray<Difference> =>
  listOf(expected)
    .filter((tag) => tags.includes(tag))
    .map((tag) => ({ path: textOf(tag), message: "is there" }))

type StreamFacet = (stream: StreamOutcome, expected: unknown, scope: Scope) => ReadonlyArray<Difference>

const tagsOf = ({ events }: StreamOutcome): ReadonlyArray<string> => events.map(([tag]) => tag)

const idOf = (payload: unknown): unknown => fieldsOf(payload)["id"] ?? fieldsOf(payload)["tool_call_id"]

const countOf = (stream: StreamOutcome, tag: unknown): number => tagsOf(stream).filter((one) => one === tag).length

const fails = (condition: boolean, message: string): ReadonlyArray<Difference> =>
  condition ? [{ path: "", message }] : []

const streamFacets: Readonly<Record<string, StreamFacet>> = {
  tags: (stream, expected, scope) => differences(tagsOf(stream), expected, scope),
  events: (stream, expected, scope) => differences(stream.events, expected, scope),
  event_count: (stream, expected, scope) => differences(stream.events.length, expected, scope),
  include: ({ events }, expected, scope) =>
    listOf(expected).flatMap((required) =>
      fails(!events.some((event) => matches(event, required, scope)), `has no ${JSON.stringify(required)}`)
    ),
  exclude: ({ events }, expected, scope) =>
    listOf(expected).flatMap((unwanted) =>
      fails(
        events.some((event) => matches(event, unwanted, scope)),
        `has ${JSON.stringify(unwanted)}`
      )
    ),
  include_tags: (stream, expected) => including(tagsOf(stream), expected),
  exclude_tags: (stream, expected) => excluding(tagsOf(stream), expected),
  include_in_order: ({ events }, expected, scope) => {
    let from = 0
    return listOf(expected).flatMap((required) => {
      const found = events.findIndex((event, index) => index >= from && matches(event, required, scope))
      from = found + 1
      return fails(found === -1, `has no ${JSON.stringify(required)} in its place`)
    })
  },
  counts: (stream, expected, scope) =>
    Object.entries(fieldsOf(expected)).flatMap(([tag, count]) => differences(countOf(stream, tag), count, scope, tag)),
  last: ({ events }, expected, scope) => differences(events.at(-1), expected, scope),
  phase_order: (stream, expected) => {
    const [first, second] = listOf(expected).map(listOf)
    const tags = tagsOf(stream)
    const lastOfFirst = tags.findLastIndex((tag) => first?.includes(tag))
    const firstOfSecond = tags.findIndex((tag) => second?.includes(tag))
    return fails(firstOfSecond !== -1 && firstOfSecond < lastOfFirst, "the phases overlap")
  },
  per_id: ({ events }, expected, scope) => {
    const { ids, tags } = fieldsOf(expected)
    const watched = listOf(tags)
    return listOf(ids).flatMap((id) => {
      const own = events.filter(([tag, payload]) => watched.includes(tag) && idOf(payload) === id).map(([tag]) => tag)
      return differences(own, tags, scope, textOf(id))
    })
  },
  contiguous_groups: ({ events }) => {
    const ids = events.filter(([tag]) => toolTags.has(tag)).map(([, payload]) => idOf(payload))
    return fails(
      ids.some((id, index) => ids[index - 1] !== id && ids.indexOf(id) < index),
      "the groups are mixed"
    )
  },
  encoded_order: ({ events }, expected, scope) =>
    differences(
      events.filter(([tag]) => tag === "tool_result_encoded").map(([, payload]) => idOf(payload)),
      expected,
      scope
    ),
  adjacent: (stream, expected) => {
    const [first, second] = listOf(expected)
    const tags = tagsOf(stream)
    return fails(tags[tags.indexOf(textOf(first)) + 1] !== second, `${textOf(second)} does not follow`)
  },
  after_first: (stream, expected) => {
    const [first, second] = listOf(expected)
    const tags = tagsOf(stream)
    return fails(
      !tags.slice(tags.indexOf(textOf(first)) + 1).includes(textOf(second)),
      `${textOf(second)} does not come`
    )
  },
  equal_counts: (stream, expected) =>
    fails(new Set(listOf(expected).map((tag) => countOf(stream, tag))).size > 1, "the counts differ"),
  every: ({ events }, expected, scope) =>
    listOf(expected).flatMap((pair) => {
      const [tag, required] = listOf(pair)
      return events
        .filter((event) => event[0] === tag)
        .flatMap(([, payload]) => differences(payload, required, scope, textOf(tag)))
    }),
  ids: ({ events }, expected, scope) =>
    Object.entries(fieldsOf(expected)).flatMap(([tag, ids]) =>
      differences(
        events.filter((event) => event[0] === tag).map(([, payload]) => idOf(payload)),
        ids,
        scope,
        tag
      )
    ),
  all_events_valid: ({ raw }) => fails(!raw.every(isEvent), "not every event is one")
}

const toolTags: ReadonlySet<string> = new Set([
  "tool_execution_started",
  "tool_execution_completed",
  "tool_result_encoded",
  "ask_user_requested",
  "tool_halt"
])
