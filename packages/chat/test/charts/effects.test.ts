import { expect, test } from "vitest"
import type { AnyStateMachine } from "xstate"
import { adapterStreamMachine, chatMachine, stepMachine, toolCallMachine } from "../../src/machines.ts"
import type { NamedEffect } from "../../src/loop/chatActors.ts"

type Names<Chart extends NamedEffect["chart"], Kind extends NamedEffect["kind"]> = Record<
  Extract<NamedEffect, { readonly chart: Chart; readonly kind: Kind }>["name"],
  true
>

/** The names of the union, complete because their types are. */
const union: {
  readonly [Chart in NamedEffect["chart"]]: {
    readonly start: Names<Chart, "start">
    readonly effect: Names<Chart, "effect">
  }
} = {
  chat: {
    start: {
      adapterStream: true,
      toolCall: true,
      calls: true,
      commit: true,
      begin: true,
      hooks: true,
      step: true,
      compaction: true,
      finish: true,
      close: true,
      expire: true,
      complete: true
    },
    effect: {
      refuse: true,
      refuseStep: true,
      crash: true,
      settle: true,
      acceptAgain: true,
      deliver: true,
      discard: true,
      saveJournal: true,
      keep: true,
      keepAsked: true,
      setMode: true,
      close: true
    }
  },
  adapterStream: {
    start: { request: true },
    effect: { notifyRetry: true, emitRefusal: true, emitCancelled: true }
  },
  toolCall: { start: { handler: true }, effect: { notify: true } }
}

const charts: ReadonlyArray<readonly [NamedEffect["chart"], AnyStateMachine]> = [
  ["chat", chatMachine],
  ["chat", stepMachine],
  ["adapterStream", adapterStreamMachine],
  ["toolCall", toolCallMachine]
]

/** Whether a named action is one of the built-in actions, which change the chart or send to its children. */
const isBuiltIn = (action: unknown): boolean => typeof action === "function" && "resolve" in action

test.each(charts)("EFFECT1 a chart has no effect outside the union: %s", (chart, machine) => {
  const { actors, actions } = machine.implementations
  const effects = Object.keys(actions).filter((name) => !isBuiltIn(actions[name]))
  expect(Object.keys(actors).toSorted()).toEqual(Object.keys(union[chart].start).toSorted())
  expect(effects.toSorted()).toEqual(Object.keys(union[chart].effect).toSorted())
})

test("EFFECT1 no chart has an action or an actor without a name", () => {
  for (const [, machine] of charts) {
    const text = JSON.stringify(machine.config, (_, value: unknown) => {
      if (typeof value !== "object" || value === null) return value
      const { entry, exit, actions, invoke } = value as Record<string, unknown>
      for (const item of [entry, exit, actions].flat()) expect(typeof item).not.toBe("function")
      for (const child of [invoke].flat() as ReadonlyArray<{ readonly src: unknown } | undefined>) {
        if (child !== undefined) expect(typeof child.src).toBe("string")
      }
      return value
    })
    expect(text.length).toBeGreaterThan(0)
  }
})
