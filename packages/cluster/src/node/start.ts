/**
 * One node of a cluster.
 *
 * Owns: its listener, its connections to other nodes, its placement and its Troupe. Does not own the store.
 *
 * CLUSTER2. An input whose receipt is `delivered` or `pending` is in the record exactly once, over any moves, and when it is
 *           sent again under its id.
 * CLUSTER3. A call that writes begins at most once, unless a person approves a second attempt.
 * CLUSTER15. After `stop`, and after a start that failed, the node has no timer, socket, lock or connection. A part that does
 *            not end does not keep the others open; its failure rejects `stop`.
 * CLUSTER17. A failure that no caller gets, such as that of a renewal, goes to `onError`, or without it to the log of the node.
 *
 * The order of a stop:
 *   1. the turns, readers and requests of this program end, with `troupe_stopped`. Nothing more is revived, and the placement releases all buckets: the chats leave, and other nodes take the buckets.
 *   2. the streams of forwarded requests end. Their readers connect again, and find the next home.
 *   3. the Troupe is stopped, then the listener and the connections are closed.
 */
import { type RunningTroupe, Troupe } from "@troupe/chat"
import { type Clock, System } from "@troupe/otp"
import { Server } from "@troupe/server"
import { nodeClient } from "../chats/index.ts"
import { Forwarder, httpErrorOf, MountedServers, NodeList, noteOf, noteText } from "../gateway/index.ts"
import { HomeBuckets, Revival } from "../home/index.ts"
import { type Accepted, InnerClient, listenInner, machineTime, misdirected, SignatureCheck } from "../inner/index.ts"
import { type OwnerAsk, OwnerCounts, OwnerGrants } from "../owners/index.ts"
import { ClusterError, type Placement } from "../placement/index.ts"
import { makeNodeServer } from "../serving/index.ts"
import { checkClusterOptions, type ClusterNodeOptions, sharedStore } from "./clusterOptions.ts"
import { ClusterTroupe } from "./ClusterTroupe.ts"

/**
 * How long another node may send nothing, in milliseconds: no longer than its lease, and at least two of the beats that a
 * stream between nodes has each second.
 */
const quietMsOf = (leaseMs: number): number => Math.min(3_000, Math.max(2_000, leaseMs))

export const startNode = async ({ cluster, ...options }: ClusterNodeOptions): Promise<ClusterTroupe> => {
  checkClusterOptions(cluster)
  const { secret, tls, leaseMs = 5_000, drainMs = 25_000, onMoved = "resume" } = cluster
  const { system, logger, silent } = options
  const log = system ?? System.make({ name: "node", logger, silent })
  const {
    onError: report = (error) => System.report(log, { subject: `Node ${cluster.address ?? cluster.listen}`, error })
  } = cluster
  const store = sharedStore(options.store, cluster)
  const { clock } = log
  const deadlineMs = leaseMs + 2_000
  const undo: Array<() => unknown> = [() => system === undefined && System.stop(log)]
  const handler: { handle: (accepted: Accepted) => Promise<Response> } = { handle: async () => misdirected() }
  try {
    const check = new SignatureCheck(secret, machineTime)
    const listening = await listenInner({
      listen: cluster.listen,
      address: cluster.address,
      tls,
      clock,
      check,
      handle: (accepted) => handler.handle(accepted)
    })
    undo.push(listening.close)
    const client = new InnerClient({ secret, clock, tls, quietMs: quietMsOf(leaseMs) })
    undo.push(() => client.close())
    const placement = await placementOf({ ...cluster, onError: report }, listening.address)
    undo.push(() => placement.stop())
    const troupe: { started: RunningTroupe | undefined } = { started: undefined }
    const revival = new Revival({
      store,
      troupe: () => startedOf(troupe.started),
      ready: (bucket) => buckets.ready(bucket),
      onMoved,
      report,
      clock
    })
    const buckets = new HomeBuckets({
      placement,
      clock,
      leaseMs,
      claim: async (keys, epoch) => store.claim(keys, epoch),
      revive: revival.revive,
      leave: async (leaving, why) => {
        const running = await startedOf(troupe.started).leave(leaving)
        if (why === "released") await revival.handOver(running)
      }
    })
    const local = await Troupe.start({ ...options, home: buckets })
    troupe.started = local
    undo.push(() => local.stop())
    const newId = (): string => System.uuid(local.system, "cluster")
    const isHome = (id: string): boolean => buckets.isHome(id) && !revival.isDue(id)
    let stopping: Promise<void> | undefined
    const closing = new AbortController()
    const nodes = new NodeList({
      placement,
      client,
      clock,
      own: () => ({
        role: cluster.role ?? "home",
        state: stopping === undefined ? "alive" : "draining",
        buckets: buckets.size,
        epoch: buckets.epoch,
        chats: local.liveChats
      })
    })
    const servers = new MountedServers()
    undo.push(() => servers.close())
    const forwarder = new Forwarder({ placement, client, clock, isHome, nodes, servers, deadlineMs })
    undo.push(() => forwarder.close())
    const counts = new OwnerCounts(clock)
    const askOwner = ownerAsking({ forwarder, client, counts })
    const grants = new OwnerGrants(clock, askOwner, (id) => local.isAlive(id), newId)
    undo.push(() => grants.stop())
    handler.handle = handling({ servers, nodes, buckets, counts })
    const { address } = listening
    const serving =
      (counted: OwnerGrants | undefined): Server.Clustered["serve"] =>
      (home) =>
        makeNodeServer({ address, isHome, forwarder, servers, grants: counted, leaseMs, clock }, home)
    const clustered: Server.Clustered = {
      local,
      address,
      isHome,
      serve: serving(grants),
      nodes: nodeCount(placement, clock),
      nodeList: nodes.read
    }
    const server = Server.forNodes({ ...clustered, serve: serving(undefined) }, cluster.onError)
    const unsubscribe = placement.subscribe(buckets)
    const stop = async (): Promise<void> => {
      closing.abort()
      const [first, ...others] = await failuresOf([
        () => revival.stop(),
        () => within(clock, drainMs, placement.stop(), report),
        unsubscribe,
        () => server.close(),
        () => forwarder.close(),
        () => servers.close(),
        () => grants.stop(),
        () => local.stop(),
        () => client.close(),
        listening.close
      ])
      for (const { error } of others) report(error)
      if (system === undefined) await System.stop(log)
      if (first !== undefined) throw first.error
    }
    return new ClusterTroupe({
      clustered,
      chats: {
        client: nodeClient(server, clock, newId, closing.signal),
        history: (id, page) => local.history(id, page),
        deadlineMs,
        isResumed: onMoved === "resume",
        checks: local.checks
      },
      bound: listening.bound,
      newId,
      stop: () => (stopping ??= stop())
    })
  } catch (error) {
    for (const failure of await failuresOf(undo.toReversed())) report(failure.error)
    throw error
  }
}

/** The placement of the options, or the engine on PostgreSQL, which is loaded now (CLUSTER14). */
const placementOf = async (cluster: ClusterNodeOptions["cluster"], address: string): Promise<Placement> => {
  const { placement, url = "", schema, role, leaseMs, onError: report } = cluster
  if (placement !== undefined) return placement(address)
  const { start } = await import("../engine/EffectPlacement.ts")
  return start({ url, schema, address, role, leaseMs, report })
}

const startedOf = (troupe: RunningTroupe | undefined): RunningTroupe => {
  if (troupe === undefined) throw new ClusterError("stopped", "The node has not started yet")
  return troupe
}

interface Handling {
  readonly servers: MountedServers
  readonly nodes: NodeList
  readonly buckets: HomeBuckets
  readonly counts: OwnerCounts
}

/** Answers the requests of other nodes. */
const handling =
  ({ servers, nodes, buckets, counts }: Handling) =>
  async (accepted: Accepted): Promise<Response> => {
    const note = noteOf(accepted.note)
    if (note.type === "forward") return servers.answer(note, accepted)
    if (note.type === "status") return Response.json(nodes.own())
    const ask = JSON.parse(new TextDecoder().decode(accepted.body)) as OwnerAsk
    return buckets.isHome(note.owner) ? Response.json(counts.ask(ask)) : misdirected()
  }

/** Asks the home of an owner: this node, or another one. */
const ownerAsking =
  ({ forwarder, client, counts }: { forwarder: Forwarder; client: InnerClient; counts: OwnerCounts }) =>
  async (owner: string, ask: OwnerAsk, closing?: AbortSignal): Promise<boolean> => {
    const body = new TextEncoder().encode(JSON.stringify(ask))
    const note = noteText({ type: "owners", owner })
    const response = await forwarder.toHome(owner, { closing, mayRepeat: true }, async (to) =>
      to === undefined
        ? Response.json(counts.ask(ask))
        : client.request(to, { method: "POST", path: "/owners", note, body })
    )
    if (response.ok) return (await response.json()) === true
    throw httpErrorOf(await response.json())
  }

/** How many nodes there are, looked up at most each five seconds. */
const nodeCount = (placement: Placement, clock: Clock.Clock): (() => number) => {
  let count = 1
  let until = 0
  return () => {
    const now = clock.now()
    if (now >= until) {
      until = now + 5_000
      placement.nodes().then(
        ({ length }) => (count = Math.max(1, length)),
        () => {}
      )
    }
    return count
  }
}

/** Runs all steps in order, also after one that fails, and returns the failures. CLUSTER15 */
const failuresOf = async (steps: ReadonlyArray<() => unknown>): Promise<ReadonlyArray<{ readonly error: unknown }>> => {
  const failures: Array<{ readonly error: unknown }> = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push({ error })
    }
  }
  return failures
}

/** Waits for the work until its time is over. A later failure is reported. */
const within = async (
  clock: Clock.Clock,
  ms: number,
  work: Promise<void>,
  report: (error: unknown) => void
): Promise<void> => {
  let timer: unknown
  const late = new Promise<void>((resolve) => {
    timer = clock.setTimeout(() => {
      work.catch(report)
      resolve()
    }, ms)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clock.clearTimeout(timer)
  }
}
