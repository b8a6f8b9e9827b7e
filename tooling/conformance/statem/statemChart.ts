/** A random machine of `gen_statem` as an XState chart, whose actions write the log. */
import { StateMachine } from "@troupe/otp"
import { type AnyStateMachine, setup } from "xstate"
import { type Json, type JsonObject, list, number, object, optional, text, textOf } from "../runner/json.ts"
import { unexaminedCase } from "../runner/suite.ts"

interface Count {
  readonly inserted: number
}

/** The events that a machine inserts in its life. */
const mostInserted = 6

const eventTypes = ["e1", "e2", "e3", "e4", "g", "st", "et"]

const { assign, cancel, effect, eventTimeout, insert, postpone, stateTimeout, timeout } = StateMachine

const statem = setup({
  types: { context: {} as Count, events: {} as { readonly type: string } },
  guards: {
    mayInsert: ({ context }, params: { readonly most: number }) => context.inserted <= params.most
  },
  actions: {
    log: effect<string, (line: string) => void>((line, { env }) => env(line)),
    postpone,
    count: assign({ inserted: ({ context }) => context.inserted + 1 }),
    insert: insert((_, type: string) => ({ type })),
    gt: timeout("g", { type: "g" }, (_, ms: number) => ms),
    gcancel: cancel("g"),
    st: stateTimeout({ type: "st" }, (_, ms: number) => ms),
    et: eventTimeout({ type: "et" }, (_, ms: number) => ms)
  }
})

type Acts = ReadonlyArray<
  | "count"
  | "gcancel"
  | "postpone"
  | { readonly type: "gt" | "st" | "et"; readonly params: number }
  | { readonly type: "insert" | "log"; readonly params: string }
>

const actOf = (act: Json): Acts => {
  const [name, value] = list(act)
  if (name === "next_event") return ["count", { type: "insert", params: text(value) }]
  if (name === "gcancel") return ["gcancel"]
  if (name === "gt" || name === "st" || name === "et") return [{ type: name, params: number(value) }]
  return unexaminedCase(`the act ${textOf(name)}`)
}

const isInsertion = (act: Json): boolean => list(act)[0] === "next_event"

/** The transitions for an event: one for each number of insertions that the machine may still do. */
const transitionsOf = (state: string, event: string, rule: JsonObject) => {
  const next = optional(text, rule["next"])
  const target = rule["repeat"] === true ? { target: state, reenter: true } : next === undefined ? {} : { target: next }
  const acts = optional(list, rule["acts"]) ?? []
  const insertions = acts.filter(isInsertion)
  return Array.from({ length: insertions.length + 1 }, (_, left) => ({
    ...target,
    guard: { type: "mayInsert", params: { most: mostInserted - insertions.length + left } } as const,
    actions: [
      { type: "log", params: `${state} ${event}` } as const,
      ...(rule["post"] === true ? (["postpone"] as const) : []),
      ...acts.filter((act) => !isInsertion(act) || insertions.indexOf(act) < insertions.length - left).flatMap(actOf)
    ]
  }))
}

const stateOf = (name: string, state: JsonObject) => {
  const [ms, next] = optional(list, state["st"]) ?? []
  const ends = next === undefined ? {} : { st: { next } }
  const rules: JsonObject = { ...ends, ...object(state["on"]) }
  return {
    entry: [
      { type: "log", params: `enter ${name}` } as const,
      ...(ms === undefined ? [] : [{ type: "st", params: number(ms) } as const])
    ],
    on: Object.fromEntries(
      eventTypes.map((event) => [event, transitionsOf(name, event, optional(object, rules[event]) ?? {})])
    )
  }
}

/** The chart of a machine's states. Its environment is the function that writes a line of the log. */
export const chartOf = (states: JsonObject): AnyStateMachine =>
  StateMachine.hosted(
    statem.createMachine({
      context: { inserted: 0 },
      initial: "A",
      states: Object.fromEntries(Object.entries(states).map(([name, state]) => [name, stateOf(name, object(state))]))
    })
  )
