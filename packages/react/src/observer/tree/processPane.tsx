/** One process. */
import type { Observation } from "@troupe/chat/observe"
import type { ObserverLink } from "@troupe/server/ChatLink"
import { type ReactNode, useMemo } from "react"
import { bytes, count, duration } from "../../format/index.ts"
import { ConfirmButton, Surface, useWatched } from "../parts/index.ts"
import { StateTree } from "./stateTree.tsx"
import { titledLabel } from "./titledLabel.ts"
import { nodesOf } from "./treeRows.ts"

/** The props of {@link ProcessPane}. */
export interface ProcessPaneProps {
  /** The observer that has the process. */
  readonly link: ObserverLink
  /** Its pid. */
  readonly id: string
  /** Called with the pid of a process that is linked or monitored, or that is the successor. */
  readonly onSelect?: ((id: string) => void) | undefined
  /** Leaves the process: the observer follows the chat again. Default: there is no button for it. */
  readonly onLeave?: (() => void) | undefined
  /** The title of a chat by its id, to name its process by. Default: the label. */
  readonly titleOf?: ((chat: string) => string | undefined) | undefined
  /** Called just before the process is killed, so that its restart can be watched. */
  readonly onKill?: ((id: string) => void) | undefined
  /** The process that replaced it after it ended. */
  readonly successor?: string | undefined
}

/** A process: its mailbox, state, links, monitors, restarts and telemetry; and a button that kills it. */
export const ProcessPane = ({ link, id, onSelect, onLeave, titleOf, onKill, successor }: ProcessPaneProps) => {
  const watched = useMemo(() => link.process(id), [link, id])
  const detail = useWatched(watched)
  const observed = useWatched(link.tree)
  const labels = useMemo(
    () => new Map(nodesOf(observed?.tree ?? []).map((node) => [node.id, node.label])),
    [observed?.tree]
  )
  if (detail === undefined) {
    return (
      <Surface className="tro-process">
        <p className="tro-empty" role="status">
          {observed === undefined || labels.has(id) ? "Looking…" : `No process ${id} lives.`}
        </p>
        <Return successor={successor} onSelect={onSelect} />
      </Surface>
    )
  }
  const isRoot = observed?.tree.some((root) => root.id === id) === true
  const kill = async () => {
    onKill?.(id)
    await link.kill(id)
  }
  return (
    <Surface className="tro-process">
      <div className="tro-head">
        <div>
          <h3 title={detail.label}>{titledLabel(detail, titleOf)}</h3>
          <p className="tro-sub">
            <code>{detail.id}</code> · {detail.kind}
            {detail.name !== undefined && detail.name !== detail.label && ` · ${detail.name}`}
          </p>
        </div>
        {detail.alive ? (
          <span className="tro-pill" data-status={detail.status}>
            {detail.status}
          </span>
        ) : (
          <span className="tro-pill" data-status="ended">
            ended
          </span>
        )}
      </div>
      {!detail.alive && <Return successor={successor} onSelect={onSelect} />}
      <Figures detail={detail} />
      {detail.alive && (
        <div className="tro-actions">
          <ConfirmButton
            key={id}
            isDangerous
            question={
              isRoot ? `Kill ${detail.label}, and all below it? Nobody starts it again.` : `Kill ${detail.label}?`
            }
            confirm="Kill"
            onConfirm={kill}
          >
            Kill…
          </ConfirmButton>
          {onLeave === undefined ? null : (
            <button type="button" className="tro-button" onClick={onLeave}>
              Follow the chat
            </button>
          )}
        </div>
      )}
      <Part title="State">
        <StateTree text={detail.state} />
      </Part>
      <Part title="Mailbox" figure={detail.queueLength}>
        {detail.mailbox.length === 0 ? (
          <p className="tro-empty">Empty</p>
        ) : (
          <ol className="tro-mail">
            {detail.mailbox.map((message, index) => (
              <li key={index}>
                <code>{message}</code>
              </li>
            ))}
          </ol>
        )}
      </Part>
      <Pids title="Links" ids={detail.links} labels={labels} onSelect={onSelect} />
      <Pids title="Monitors" ids={detail.monitors} labels={labels} onSelect={onSelect} />
      <Recent detail={detail} now={observed?.at} />
    </Surface>
  )
}

const Return = ({ successor, onSelect }: Pick<ProcessPaneProps, "successor" | "onSelect">) => (
  <p className="tro-return" role="status">
    {successor === undefined ? (
      "It has ended. Its supervisor may start another."
    ) : (
      <>
        It is back, as{" "}
        <button type="button" className="tro-link" onClick={() => onSelect?.(successor)}>
          {successor}
        </button>
        .
      </>
    )}
  </p>
)

const Figures = ({ detail }: { readonly detail: Observation.ProcessDetail }) => (
  <dl className="tro-figures">
    <div>
      <dt>Queue</dt>
      <dd>{count(detail.queueLength)}</dd>
    </div>
    <div>
      <dt>Memory</dt>
      <dd>{bytes(detail.memory)}</dd>
    </div>
    <div>
      <dt>Handled</dt>
      <dd>{count(detail.handled)}</dd>
    </div>
    <div>
      <dt>Busy</dt>
      <dd>{duration(detail.busyMs)}</dd>
    </div>
    {detail.restarts !== undefined && (
      <div>
        <dt>Restarts</dt>
        <dd>{count(detail.restarts)}</dd>
      </div>
    )}
  </dl>
)

interface PartProps {
  readonly title: string
  readonly figure?: number
  readonly children: ReactNode
}

const Part = ({ title, figure, children }: PartProps) => (
  <div className="tro-block">
    <h4>
      {title}
      {figure !== undefined && <span className="tro-count">{count(figure)}</span>}
    </h4>
    {children}
  </div>
)

interface PidsProps extends Pick<ProcessPaneProps, "onSelect"> {
  readonly title: string
  readonly ids: ReadonlyArray<string>
  readonly labels: ReadonlyMap<string, string>
}

const Pids = ({ title, ids, labels, onSelect }: PidsProps) => (
  <Part title={title} figure={ids.length}>
    {ids.length === 0 ? (
      <p className="tro-empty">None</p>
    ) : (
      <ul className="tro-pids">
        {[...new Set(ids)].map((id) => (
          <li key={id}>
            <button type="button" className="tro-link" onClick={() => onSelect?.(id)}>
              {labels.get(id) ?? "process"} <code>{id}</code>
            </button>
          </li>
        ))}
      </ul>
    )}
  </Part>
)

const Recent = ({ detail, now }: { readonly detail: Observation.ProcessDetail; readonly now: number | undefined }) => (
  <Part title="Telemetry">
    {detail.recent.length === 0 ? (
      <p className="tro-empty">Nothing since you look</p>
    ) : (
      <ol className="tro-events" tabIndex={0} aria-label="Telemetry, the newest first">
        {detail.recent.toReversed().map((entry, index) => (
          <li key={detail.recent.length - index} title={`${entry.event} ${entry.detail}`}>
            <span className="tro-number">{duration(Math.max(0, (now ?? entry.at) - entry.at))}</span>
            <span>{entry.event}</span>
            <code>{entry.detail}</code>
          </li>
        ))}
      </ol>
    )}
  </Part>
)
