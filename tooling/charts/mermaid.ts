/**
 * Draws a chart as a Mermaid state diagram.
 *
 * Reads the machine itself, so that the drawing always matches it: each state, each transition with its event, guard and
 * actions, the invoked actors, the final states.
 *
 * @module
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from "xstate"

const idOf = (node: AnyStateNode): string => (node.path.length === 0 ? node.key : node.path.join("_"))

const wordOf = (part: unknown): string => {
  if (typeof part === "string") return part
  if (typeof part === "function") return builtIn(part) ?? (part.name === "guard" || part.name === "" ? "…" : part.name)
  if (typeof part === "object" && part !== null && "type" in part) return wordOf(part.type)
  return "…"
}

/** XState's own action creators return functions with their own names. */
const builtIn = (part: object): string | undefined =>
  "type" in part && typeof part.type === "string" && part.type.startsWith("xstate.")
    ? part.type.slice("xstate.".length)
    : undefined

const eventOf = (event: string, node: AnyStateNode): string => {
  if (event === "") return ""
  const [, kind, rest = ""] = /^xstate\.(after|done\.actor|error\.actor|done\.state)\.(.*)$/.exec(event) ?? []
  const subject = invokedId(rest, node)
  if (kind === "after") return `after ${rest.replace(`.${node.id}`, "")}`
  if (kind === "done.actor") return `${subject} done`
  if (kind === "error.actor") return `${subject} failed`
  return kind === undefined ? event : "done"
}

/** An invocation without an id is named by its source. */
const invokedId = (id: string, node: AnyStateNode): string => {
  const invoked = node.invoke.find((one) => one.id === id)
  return invoked === undefined || !id.includes(".") ? id : wordOf(invoked.src)
}

const labelOf = (transition: AnyTransitionDefinition, node: AnyStateNode): string => {
  const guard = transition.guard === undefined ? "" : `[${wordOf(transition.guard)}]`
  const actions = transition.actions.length === 0 ? "" : `/ ${transition.actions.map(wordOf).join(", ")}`
  const label = [eventOf(transition.eventType, node), guard, actions].filter((part) => part !== "").join(" ")
  return label === "" ? "" : ` : ${label}`
}

const transitionsOf = (node: AnyStateNode): ReadonlyArray<AnyTransitionDefinition> => [
  ...(node.always ?? []),
  ...[...node.transitions.values()].flat()
]

/** The timers of delayed transitions are actions too; they are omitted, since the transition shows them. */
const actionsOf = (actions: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  actions.map(wordOf).filter((word) => word !== "raise" && word !== "cancel")

const whenAny = (moment: "entry" | "exit", actions: ReadonlyArray<string>): ReadonlyArray<string> =>
  actions.length === 0 ? [] : [`${moment} / ${actions.join(", ")}`]

/** The notes of a state: its entry and exit actions, its invocations, its internal transitions. */
const notesOf = (node: AnyStateNode): ReadonlyArray<string> => [
  ...whenAny("entry", actionsOf(node.entry)),
  ...node.invoke.map((invoked) => `invoke ${wordOf(invoked.src)}`),
  ...transitionsOf(node)
    .filter((transition) => (transition.target ?? []).length === 0)
    .map((transition) => labelOf(transition, node).slice(3)),
  ...whenAny("exit", actionsOf(node.exit))
]

const edgesOf = (node: AnyStateNode): ReadonlyArray<string> =>
  transitionsOf(node).flatMap((transition) =>
    (transition.target ?? []).map((target) => `${idOf(node)} --> ${idOf(target)}${labelOf(transition, node)}`)
  )

const isCompound = (node: AnyStateNode): boolean => Object.keys(node.states).length > 0

const bodyOf = (node: AnyStateNode): ReadonlyArray<string> => {
  const children = Object.values(node.states)
  const first = node.initial.target[0]
  return [
    ...(first === undefined ? [] : [`[*] --> ${idOf(first)}`]),
    ...children.flatMap(stateLines),
    ...children.flatMap(edgesOf),
    ...children.filter(({ type }) => type === "final").map((child) => `${idOf(child)} --> [*]`)
  ]
}

/** A state with substates cannot have a description, so its notes are beside it. */
const noteBeside = (anchor: AnyStateNode, notes: ReadonlyArray<string>): ReadonlyArray<string> =>
  notes.length === 0 ? [] : [`note right of ${idOf(anchor)}`, ...notes.map((note) => `  ${note}`), "end note"]

const stateLines = (node: AnyStateNode): ReadonlyArray<string> => {
  const notes = notesOf(node)
  const name = `state "${node.key}" as ${idOf(node)}`
  return isCompound(node)
    ? [`${name} {`, ...bodyOf(node).map((line) => `  ${line}`), "}", ...noteBeside(node, notes)]
    : [name, ...notes.map((note) => `${idOf(node)} : ${note}`)]
}

/** The transitions of the whole machine, which is no state of the drawing. */
const fromAnyState = (root: AnyStateNode): ReadonlyArray<string> =>
  transitionsOf(root).flatMap((transition) =>
    (transition.target ?? []).map((target) => `${labelOf(transition, root).slice(3)} → ${idOf(target)}`)
  )

/** A machine's Mermaid text. A note at the first state has the actions and transitions of every state. */
export const mermaidOf = (machine: AnyStateMachine): string => {
  const { root } = machine
  const beside = noteBeside(root.initial.target[0] ?? root, [...notesOf(root), ...fromAnyState(root)])
  const lines = ["direction TB", ...bodyOf(root), ...beside]
  return ["stateDiagram-v2", ...lines.map((line) => `  ${line}`), ""].join("\n")
}
