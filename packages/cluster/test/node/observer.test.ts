import { Fake } from "@troupe/chat"
import { type ChatLink, Client, Server } from "@troupe/server"
import type { Forwarder, MountedServers } from "../../src/gateway/index.ts"
import { makeNodeServer } from "../../src/serving/index.ts"
import * as net from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { nodes, post, type TestNode, type TestNodes, until } from "../double/clusterNodes.ts"

const operator = { server: { authorize: () => ({ owner: "anna", may: { observe: true } }) } }

/** Three nodes: `home` has all buckets, and counts what the owner uses at `other`. */
const three = async (adapter?: Parameters<typeof nodes>[0]) => {
  const all = nodes(adapter)
  const home = await all.node(operator)
  const other = await all.node(operator)
  const gateway = await all.node({ ...operator, cluster: { role: "gateway" } })
  await all.placements.move("anna", other.troupe.address)
  return { ...all, home, other, gateway }
}

const listAt = async ({ url }: TestNode): Promise<ReadonlyArray<ChatLink.NodeStatus>> =>
  ((await (await fetch(`${url}/observer/nodes`)).json()) as { nodes: ReadonlyArray<ChatLink.NodeStatus> }).nodes

const statusOf = async (at: TestNode, { troupe }: TestNode): Promise<ChatLink.NodeStatus | undefined> =>
  (await listAt(at)).find(({ node }) => node === troupe.address)

/** Waits for the first answer of each node to a node. */
const known = (at: TestNode): Promise<void> =>
  until(async () => (await listAt(at)).every(({ chats }) => chats !== undefined))

const path = (at: TestNode, rest: string, { troupe }: TestNode): string =>
  `${at.url}/observer/${rest}?node=${encodeURIComponent(troupe.address)}`

const codeOf = async (answer: Response): Promise<string> =>
  `${answer.status} ${((await answer.json()) as { error: { code: string } }).error.code}`

/** The first frame of a stream. */
const firstOf = async (url: string): Promise<{ readonly node?: string; readonly text: string }> => {
  const { body } = await fetch(url)
  const reader = (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  while (!text.includes("\n\n")) text += (await reader.read()).value ?? ""
  await reader.cancel()
  return { ...(JSON.parse(text.slice("data: ".length, text.indexOf("\n\n"))) as { readonly node?: string }), text }
}

/** A chat whose bucket is at a node, and whose turn runs. */
const running = async ({ placements }: TestNodes, at: TestNode, id: string) => {
  await placements.move(id, at.troupe.address)
  const chat = await at.troupe.local.chat(id)
  await chat.send("Hello", { id: `m-${id}` }).receipt
  return chat
}

const hanging = () => Fake.make({ script: [{ text: "Once " }, { hang: true }] })

describe("the list of nodes", () => {
  it("has each node, with its role, its buckets, their highest epoch and its chats, the same at every node", async () => {
    const { home, other, gateway, ...all } = await three(hanging())
    await running(all, other, "c")
    await Promise.all([home, other, gateway].map(known))
    const lists = await Promise.all([home, other, gateway].map(listAt))
    expect(lists[1]).toEqual(lists[0])
    expect(lists[2]).toEqual(lists[0])
    expect(lists[0]?.map(({ node }) => node)).toEqual(
      [home, other, gateway].map(({ troupe }) => troupe.address).toSorted()
    )
    const first = { role: "home", state: "alive", buckets: 4_094, epoch: 1, chats: 0 }
    expect(await statusOf(gateway, home)).toEqual({ node: home.troupe.address, ...first })
    const second = { role: "home", state: "alive", buckets: 2, epoch: 3, chats: 1 }
    expect(await statusOf(gateway, other)).toEqual({ node: other.troupe.address, ...second })
    const third = { role: "gateway", state: "alive", buckets: 0, epoch: 0, chats: 0 }
    expect(await statusOf(home, gateway)).toEqual({ node: gateway.troupe.address, ...third })
  })

  it("a node that hands its conversations over is `draining`, and `gone` when it has left", async () => {
    const all = nodes()
    const handover = Promise.withResolvers<void>()
    const leaving = await all.node({
      ...operator,
      cluster: {
        placement: async (address) => {
          const placement = await all.placements.join()(address)
          return { ...placement, stop: () => handover.promise.then(placement.stop) }
        }
      }
    })
    const other = await all.node(operator)
    await all.placements.move("anna", other.troupe.address)
    await known(other)
    expect((await statusOf(other, leaving))?.state).toBe("alive")
    const stopped = leaving.troupe.stop()
    await until(async () => (await statusOf(other, leaving))?.state === "draining")
    expect(await statusOf(other, leaving)).toMatchObject({ state: "draining", buckets: 4_095 })
    handover.resolve()
    await stopped
    expect(await statusOf(other, leaving)).toMatchObject({ state: "gone", role: "home" })
  })

  it("NODES2: a dead node is `silent` at once, a frozen one later, and both keep their last status", async () => {
    const { home, other, gateway } = await three()
    await known(other)
    gateway.proxy.cut()
    await until(async () => (await statusOf(other, gateway))?.state === "silent")
    home.proxy.freeze()
    await until(async () => (await statusOf(other, home))?.state === "silent")
    expect(await statusOf(other, home)).toMatchObject({ role: "home", buckets: 4_095 })
  })
})

describe("an observer's request", () => {
  it("OBSERVE5, FORWARD5: is answered by the node that it names, and by the reached node without a name", async () => {
    const { home, other, gateway, ...all } = await three(hanging())
    const chat = await running(all, other, "c")
    for (const at of [home, other, gateway]) {
      const tree = await firstOf(path(at, "tree", other))
      expect([tree.node, tree.text.includes("Chat c")]).toEqual([other.troupe.address, true])
      expect((await firstOf(path(at, `processes/${String(chat.pid)}`, other))).text).toContain('"chat":"c"')
      expect((await firstOf(path(at, "timeline/c", other))).text).toContain('"chat":"c"')
      const own = await firstOf(`${at.url}/observer/tree`)
      expect([own.node, own.text.includes("Chat c")]).toEqual([at.troupe.address, at === other])
    }
  })

  it("FORWARD5: a kill ends the process at the node that it names, and none at another node", async () => {
    const { home, other, gateway, ...all } = await three(hanging())
    const chats = [await running(all, home, "a"), await running(all, other, "b")] as const
    const before = chats.map(({ pid }) => String(pid))
    // The pids of the nodes are the same texts, so that a kill at another node would find a process.
    expect(before[0]).toBe(before[1])
    const answer = await post(path(gateway, `processes/${before[0]}/kill`, other), {})
    expect([answer.status, await answer.json()]).toEqual([200, { ok: true }])
    await until(() => String(chats[1].pid) !== before[1])
    expect(String(chats[0].pid)).toBe(before[0])
    expect(await codeOf(await post(path(gateway, "processes/%3C0.999.0%3E/kill", other), {}))).toBe("404 not_found")
  })

  it("FORWARD5: that is forwarded to a node other than the named one is refused there, and its route does not run", async () => {
    const { home, other } = await three()
    const { local, address, isHome, nodes: count, nodeList } = home.troupe
    const mounts: Array<Parameters<MountedServers["mount"]>[1]> = []
    const forwarder: Pick<Forwarder, "forward"> = {
      forward: () => Promise.reject(new Error("no request is forwarded"))
    }
    const servers: Pick<MountedServers, "mount"> = { mount: (_, mounted) => void mounts.push(mounted) }
    const parts = { address, isHome, forwarder, servers, grants: undefined, leaseMs: 1_000, clock: local.system.clock }
    const { close } = Server.make({
      ...operator.server,
      troupe: {
        local,
        address,
        isHome,
        nodes: count,
        nodeList,
        serve: (served) => makeNodeServer(parts, served)
      }
    })
    onTestFinished(close)
    const may = {
      mode: undefined,
      approve: false,
      observe: true,
      rewind: true,
      delete: true,
      agents: false,
      models: false
    }
    const askFor = (node: string) =>
      mounts[0]?.handle(new Request(path(home, "processes/%3C0.999.0%3E", other)), {
        owner: "anna",
        may,
        via: [],
        node,
        streams: true
      })
    await expect(askFor(other.troupe.address)).rejects.toMatchObject({ code: "misdirected" })
  })

  it("OBSERVE3, OBSERVE5: of a caller who may not observe is refused where it arrives, and reaches no other node", async () => {
    const { home, node } = await three()
    const strict = await node()
    const chat = await home.troupe.local.chat("c")
    const pid = String(chat.pid)
    home.proxy.freeze()
    const answers = await Promise.all([
      fetch(`${strict.url}/observer/nodes`),
      fetch(path(strict, "tree", home)),
      post(path(strict, `processes/${pid}/kill`, home), {})
    ])
    expect(await Promise.all(answers.map(codeOf))).toEqual(Array.from(answers, () => "403 forbidden"))
  })

  it("HOP2: for a silent node gets `node_silent` at the deadline, a kill too", async () => {
    const { home, gateway } = await three()
    await known(gateway)
    home.proxy.freeze()
    const answers = await Promise.all([
      fetch(path(gateway, "tree", home)),
      post(path(gateway, "processes/%3C0.1.0%3E/kill", home), {})
    ])
    expect(await Promise.all(answers.map(codeOf))).toEqual(["504 node_silent", "504 node_silent"])
  })

  it("HOP2: for a dead node, or an address that is no node, gets `node_unreached`, and nothing is sent there", async () => {
    const { home, gateway, placements, other } = await three()
    home.proxy.cut()
    expect(await codeOf(await fetch(path(gateway, "tree", home)))).toBe("503 node_unreached")
    await placements.inherit(home.troupe.address, other.troupe.address)
    expect(await codeOf(await fetch(path(gateway, "tree", home)))).toBe("503 node_unreached")
    let connections = 0
    const stranger = net.createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => void stranger.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void stranger.close())
    const address = `127.0.0.1:${(stranger.address() as net.AddressInfo).port}`
    expect(await codeOf(await fetch(`${gateway.url}/observer/tree?node=${address}`))).toBe("503 node_unreached")
    expect(connections).toBe(0)
  })

  it("FORWARD6: is answered when the node that counts its owner's requests is silent", async () => {
    const { other, gateway } = await three()
    await known(gateway)
    other.proxy.freeze()
    expect(await codeOf(await fetch(`${gateway.url}/chats`))).toBe("503 moved")
    expect(await listAt(gateway)).toHaveLength(3)
  })
})

describe("the observer's link of a client", () => {
  it("has the nodes live, observes and kills on each, and keeps the last tree of a node that is silent", async () => {
    const { home, other, gateway, ...all } = await three(hanging())
    const chat = await running(all, other, "c")
    const before = String(chat.pid)
    const { observer } = Client.connect({ url: gateway.url })
    const at = observer.node?.(other.troupe.address)
    if (at === undefined) throw new Error("the link has no nodes")
    const list = observer.nodes?.("c")
    expect(observer.node?.(other.troupe.address)).toBe(at)
    const leave = [list?.subscribe(() => {}), at.tree.subscribe(() => {}), at.process(before).subscribe(() => {})]
    const stateOf = () => list?.getState()?.find(({ node }) => node === other.troupe.address)?.state
    await until(() => stateOf() === "alive" && at.tree.getState()?.node === other.troupe.address)
    await until(() => at.process(before).getState()?.chat === "c")
    expect(list?.getState()?.filter(({ hasChat }) => hasChat)).toMatchObject([{ node: other.troupe.address }])
    await at.kill(before)
    await until(() => String(chat.pid) !== before)
    await until(() => JSON.stringify(at.tree.getState()).includes(`"${String(chat.pid)}"`))
    other.proxy.freeze()
    await until(() => stateOf() === "silent" && at.tree.getError?.() !== undefined)
    expect(JSON.stringify(at.tree.getState())).toContain("Chat c")
    for (const left of leave) left?.()
    expect(home.troupe.isAlive("c")).toBe(false)
  })
})
