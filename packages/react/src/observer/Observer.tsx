/**
 * The observer: shows the processes of a system, and kills them. A component that can be mounted anywhere, and its parts.
 *
 * **Details**: the styles are included and need no bundler: React adds them to the page's head, once. The theme is light or
 * dark by the reader's system, or by `data-theme` (`light`, `dark`) on it or around it. Its colours are custom properties
 * of the page (`--tro-accent`, `--tro-page`, …), the same as those of `theme.css`, and your own rules override them. It fills
 * the given width: three columns, two, or one part at a time.
 *
 * Owns: the selected process, and the killed process whose successor is awaited. Does not own the observed data, which
 * belongs to the link.
 *
 * OBS1. A part that is not shown is not watched.
 * OBS2. A process that was killed here stays selected until its successor starts, which is then selected and highlighted.
 *
 * @module
 */
import type { Observation } from "@troupe/chat/observe"
import type { ChatLink, ObserverLink } from "@troupe/server/ChatLink"
import { type ReactNode, useMemo, useRef, useState } from "react"
import type { AnyStateMachine } from "xstate"
import { type Prices, TurnTimeline, UsageMeters } from "./timeline/index.ts"
import { EventLog } from "./log/index.ts"
import { count } from "../format/index.ts"
import { type Part, Surface, Tabs, useSize, useWatched } from "./parts/index.ts"
import {
  chatWork,
  type Lost,
  lostIn,
  NodeList,
  nodesOf,
  ProcessPane,
  ProcessTree,
  successorOf,
  useShownNode,
  type Work,
  worksOf
} from "./tree/index.ts"
import { activeText, StateChart, TurnChart } from "./chart/index.ts"
import { useSnapshot } from "../hooks/index.ts"

export {
  type Prices,
  TurnTimeline,
  type TurnTimelineProps,
  UsageMeters,
  type UsageMetersProps
} from "./timeline/index.ts"
export { EventLog, type EventLogProps } from "./log/index.ts"
export { ProcessPane, type ProcessPaneProps, ProcessTree, type ProcessTreeProps } from "./tree/index.ts"
export { StateChart, type StateChartProps } from "./chart/index.ts"

/** The props of {@link Observer}. */
export interface ObserverProps {
  /** The observed system: `observer` of a troupe's link, local or remote. */
  readonly link: ObserverLink
  /** A chat whose turn, tokens and log are shown too. */
  readonly chat?: ChatLink | undefined
  /** The price of a million tokens, for the meters. */
  readonly prices?: Prices | undefined
  /** The title of a chat by its id, to name it by. Default: its id is its name. */
  readonly titleOf?: ((chat: string) => string | undefined) | undefined
  /** Your own machines by their ids, to draw their charts. */
  readonly machines?: Readonly<Record<string, AnyStateMachine>> | undefined
  /** Called with the id of a chat that was forked in the log. */
  readonly onFork?: ((id: string) => void) | undefined
}

/** Below this width only one part is shown at a time. */
const narrow = 520

/**
 * The live supervision tree, the selected process and its statechart; for a chat also the timeline of its turn, its tokens
 * and its log. For a cluster also its nodes, one of which is shown.
 *
 * **When to use**: beside a chat during development. In production behind your own authorization, since it shows all chats
 * and kills processes.
 */
export const Observer = ({ link, chat, prices, titleOf, machines, onFork }: ObserverProps) => {
  const frame = useRef<HTMLDivElement>(null)
  const size = useSize(frame)
  const { at, observed, node, nodes, choose } = useShownNode(link, chat?.id)
  const { selected, select, leave, watch, highlighted, successor } = useSelection(at, observed?.tree, chat?.id)
  const works = useWorks(chat, observed?.tree)
  const [tab, setTab] = useState("processes")
  const isNarrow = size !== undefined && size.width < narrow

  const chosen = (id: string) => {
    select(id)
    if (isNarrow) setTab("process")
  }
  const parts: ReadonlyArray<Part> = [
    {
      id: "processes",
      title: "Processes",
      content: (
        <ProcessTree
          link={at}
          selected={selected}
          onSelect={chosen}
          onLeave={leave}
          highlighted={highlighted}
          titleOf={titleOf}
          works={works}
        />
      )
    },
    {
      id: "process",
      title: "Process",
      content:
        selected === undefined ? (
          <p className="tro-empty">Select a process.</p>
        ) : (
          <ProcessPane
            link={at}
            id={selected}
            onSelect={chosen}
            onLeave={leave}
            titleOf={titleOf}
            onKill={watch}
            successor={successor}
          />
        )
    },
    {
      id: "chart",
      title: "Chart",
      content: <LiveChart link={at} id={selected} chat={chat} tree={observed?.tree} machines={machines} />
    },
    ...(chat === undefined
      ? []
      : [
          { id: "turn", title: "Turn", content: <TurnTimeline link={at} chat={chat.id} /> },
          { id: "log", title: "Log", content: <EventLog key={chat.id} chat={chat} onFork={onFork} /> }
        ])
  ]
  return (
    <Surface className="tro-observer">
      <div
        ref={frame}
        className="tro-frame"
        data-narrow={isNarrow || undefined}
        data-chat={chat !== undefined || undefined}
      >
        {node !== undefined && nodes.length > 1 && <NodeList nodes={nodes} shown={node} onChoose={choose} />}
        <header className="tro-summary">
          <Counters observed={observed} />
          {chat !== undefined && <ChatMeters chat={chat} prices={prices} />}
        </header>
        {isNarrow ? (
          <Tabs parts={parts} chosen={tab} onChoose={setTab} />
        ) : (
          <div className="tro-grid">
            {parts.map(({ id, title, content }) => (
              <section key={id} className="tro-panel" data-part={id} aria-label={title}>
                <h2>{title}</h2>
                <div className="tro-body">{content}</div>
              </section>
            ))}
          </div>
        )}
      </div>
    </Surface>
  )
}

interface Selection {
  /** The observation that has the process. */
  readonly at: ObserverLink | undefined
  readonly selected: string | undefined
  /** The place of the selected process when it was last seen, and its tree. */
  readonly seen: Lost | undefined
  readonly tree: Observation.Observed["tree"] | undefined
  readonly isKilled: boolean
  readonly back: string | undefined
}

const nobodySelected: Selection = {
  at: undefined,
  selected: undefined,
  seen: undefined,
  tree: undefined,
  isKilled: false,
  back: undefined
}

/**
 * The selected process: the reader's choice; before that the chat's process, or the first chat's; after a kill the
 * successor (OBS2). Another node begins without a choice.
 */
const useSelection = (at: ObserverLink, tree: Observation.Observed["tree"] | undefined, chat: string | undefined) => {
  const [kept, setKept] = useState(nobodySelected)
  const state = kept.at === at ? kept : nobodySelected
  const setState = (next: Selection) => setKept({ ...next, at })
  const nodes = useMemo(() => nodesOf(tree ?? []), [tree])
  const selected =
    state.selected ?? nodes.find((node) => node.chat !== undefined && node.chat === (chat ?? node.chat))?.id
  const isSeen = selected !== undefined && nodes.some(({ id }) => id === selected)
  const successor =
    isSeen || tree === undefined || state.seen?.id !== selected || state.seen === undefined
      ? undefined
      : successorOf(state.seen, tree)
  if (successor !== undefined && state.isKilled) setState({ ...nobodySelected, selected: successor, back: successor })
  else if (isSeen && tree !== undefined && (state.tree !== tree || state.seen?.id !== selected)) {
    setState({ ...state, tree, seen: lostIn(tree, selected) })
  }
  return {
    selected,
    successor,
    highlighted: state.back ?? successor,
    leave: state.selected === undefined ? undefined : () => setState(nobodySelected),
    select: (id: string) => setState({ ...nobodySelected, selected: id, back: id === state.back ? id : undefined }),
    watch: () => setState({ ...state, selected, isKilled: true, back: undefined })
  }
}

const noCalls: Parameters<typeof worksOf>[0] = []

/** The chat of an observer without an open conversation. */
const noChat = {
  getState: () => ({ view: { toolCalls: noCalls, phase: "idle" as const } }),
  subscribe: () => () => {}
}

/** The work of the processes of the chat and of its calls. */
const useWorks = (
  chat: ChatLink | undefined,
  tree: Observation.Observed["tree"] | undefined
): ReadonlyMap<string, Work> => {
  const shown: Pick<ChatLink, "subscribe"> & { readonly getState: () => { readonly view: ShownWork } } = chat ?? noChat
  const calls = useSnapshot(shown, ({ view }) => view.toolCalls)
  const phase = useSnapshot(shown, ({ view }) => view.phase)
  return useMemo(() => {
    const works = new Map(worksOf(calls))
    const own = nodesOf(tree ?? []).find((node) => chat !== undefined && node.chat === chat.id)
    if (own !== undefined) works.set(own.id, chatWork(phase))
    return works
  }, [calls, phase, tree, chat])
}

type ShownWork = Pick<ReturnType<ChatLink["getState"]>["view"], "toolCalls" | "phase">

interface LiveChartProps extends Pick<ObserverProps, "link" | "machines" | "chat"> {
  readonly id: string | undefined
  readonly tree: Observation.Observed["tree"] | undefined
}

/**
 * The states of the chat's turn, or the whole chart: that of the selected process, or of the chat if the process has none. Without a chat
 * there is the whole chart only.
 */
const LiveChart = ({ link, id, chat, tree, machines }: LiveChartProps): ReactNode => {
  const [wish, setWhole] = useState(false)
  const isWhole = wish || chat === undefined
  const own = useMemo(
    () => nodesOf(tree ?? []).find((node) => chat !== undefined && node.chat === chat.id)?.id,
    [tree, chat]
  )
  const chart = useChart(link, id)
  const ofChat = useChart(link, chart === undefined ? own : undefined)
  const shown = chart ?? ofChat
  return (
    <div className="tro-live-chart">
      {chat === undefined ? null : (
        <div className="tro-toolbar">
          {isWhole || shown === undefined ? null : (
            <p className="tro-active" role="status">
              <span>{shown.machine}</span> {activeText(shown.value)}
            </p>
          )}
          <button type="button" className="tro-button" aria-pressed={isWhole} onClick={() => setWhole(!wish)}>
            Whole chart
          </button>
        </div>
      )}
      {chat !== undefined && !isWhole ? (
        <TurnChart chat={chat} />
      ) : shown === undefined ? (
        <p className="tro-empty">A process that is a statechart is drawn here.</p>
      ) : (
        <StateChart machine={shown.machine} value={shown.value} machines={machines} />
      )}
    </div>
  )
}

const nobody = { getState: () => undefined, subscribe: () => () => {} }

const useChart = (link: ObserverLink, id: string | undefined): Observation.ProcessDetail["chart"] => {
  const watched = useMemo(() => (id === undefined ? nobody : link.process(id)), [link, id])
  return useWatched<Observation.ProcessDetail>(watched)?.chart
}

const Counters = ({ observed }: { readonly observed: Observation.Observed | undefined }) => {
  const counters = [
    { name: "Processes", value: observed?.processes, isBad: false },
    { name: "Restarts", value: observed?.restarts, isBad: false },
    { name: "Crashes", value: observed?.crashes, isBad: true },
    { name: "Zombies", value: observed?.zombies, isBad: false },
    { name: "Dead letters", value: observed?.deadLetters, isBad: true }
  ]
  return (
    <dl className="tro-counters">
      {counters.map(({ name, value, isBad }) => (
        <div
          key={name}
          data-zombies={(name === "Zombies" && value !== undefined && value > 0) || undefined}
          data-bad={(isBad && value !== undefined && value > 0) || undefined}
        >
          <dt>{name}</dt>
          <dd>{value === undefined ? "–" : count(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

const ChatMeters = ({ chat, prices }: { readonly chat: ChatLink; readonly prices: Prices | undefined }) => {
  const usage = useSnapshot(chat, ({ view }) => view.usage)
  return <UsageMeters usage={usage} prices={prices} />
}
