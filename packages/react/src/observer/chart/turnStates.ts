/** The states of a turn for people, and the path through them. */
import type { ChatView } from "@troupe/chat/view"

type Phase = ChatView.ChatView["phase"]

/** One of seven states. */
export type TurnState = "ready" | "asking" | "answering" | "tools" | "waiting" | "finishing" | "interrupted"

const states: Readonly<Record<Phase, TurnState>> = {
  idle: "ready",
  moved: "ready",
  committing: "asking",
  compacting: "asking",
  requesting: "asking",
  streaming: "answering",
  runningTools: "tools",
  runningHooks: "tools",
  awaitingUser: "waiting",
  awaitingTools: "waiting",
  awaitingApproval: "waiting",
  completing: "finishing",
  interrupted: "interrupted"
}

/** The state of a phase. */
export const turnState = (phase: Phase): TurnState => states[phase]

/** The ways between the states, as paths of SVG. */
export const ways: ReadonlyArray<{ readonly from: TurnState; readonly to: TurnState; readonly path: string }> = [
  { from: "ready", to: "asking", path: "M96 42H128" },
  { from: "asking", to: "answering", path: "M218 42H250" },
  { from: "answering", to: "finishing", path: "M340 42H494" },
  { from: "finishing", to: "ready", path: "M539 26V16Q539 8 531 8H59Q51 8 51 16V26" },
  { from: "answering", to: "tools", path: "M303 58V104" },
  { from: "tools", to: "asking", path: "M277 104V89Q277 81 269 81H197Q189 81 189 73V58" },
  { from: "tools", to: "waiting", path: "M340 114H372" },
  { from: "waiting", to: "tools", path: "M372 126H340" },
  { from: "answering", to: "waiting", path: "M322 58V73Q322 81 330 81H409Q417 81 417 89V104" },
  { from: "asking", to: "interrupted", path: "M163 58V104" },
  { from: "interrupted", to: "asking", path: "M151 104V58" }
]

/** Names a way by its ends. */
export const wayKey = (from: TurnState, to: TurnState): string => `${from}>${to}`

/** The shortest way from one state to another, without the first: states that were too short to be seen. */
const between = (from: TurnState, to: TurnState): ReadonlyArray<TurnState> => {
  let paths: ReadonlyArray<ReadonlyArray<TurnState>> = [[from]]
  for (let length = 0; length < 4; length++) {
    paths = paths.flatMap((path) =>
      ways.flatMap((way) => (way.from === path.at(-1) && !path.includes(way.to) ? [[...path, way.to]] : []))
    )
    const found = paths.find((path) => path.at(-1) === to)
    if (found !== undefined) return found.slice(1)
  }
  return [to]
}

/** The longest path that is kept. */
const longest = 200

/** The path after the turn has come to a state; a turn that begins has a path of its own. */
export const pathAfter = (path: ReadonlyArray<TurnState>, state: TurnState): ReadonlyArray<TurnState> => {
  const last = path.at(-1)
  if (last === state) return path
  if (last === undefined) return [state]
  if (last === "ready" || path.length > longest) return last === "ready" ? [last, ...between(last, state)] : [state]
  return [...path, ...between(last, state)]
}
