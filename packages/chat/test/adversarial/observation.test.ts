import { Clock, System } from "@troupe/otp"
import { expect, test } from "vitest"
import * as Fake from "../../src/adapter/Fake.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import * as Observation from "../../src/observe/Observation.ts"
import { make } from "../../src/tool/Tool.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { hop } from "../double/hop.ts"
import { calls, says } from "../double/scripts.ts"
import type { ProcessNode } from "../../src/observe/observed.ts"

/** A number that looks random, the same for the same seed. */
const chanceOf = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const all = (nodes: ReadonlyArray<ProcessNode> = []): ReadonlyArray<ProcessNode> =>
  nodes.flatMap((node) => [node, ...all(node.children)])

test.each([1, 2, 3, 4])(
  "a storm of kills by who watches leaves no span of an ended turn open, and nothing behind: %s",
  async (seed) => {
    const chance = chanceOf(seed)
    const clock = Clock.test()
    const system = System.make({ clock })
    const slow = make({
      name: "slow",
      handler: ({ ms }) => new Promise((resolve) => void clock.setTimeout(() => resolve(ok("late")), Number(ms)))
    })
    const scripts = Array.from({ length: 400 }, (_, index) =>
      index % 2 === 0 ? calls(["slow", { ms: 100 }], ["slow", { ms: 400 }]) : says("done")
    )
    const troupe = await Troupe.start({
      adapter: Fake.make({ scripts }),
      tools: [slow],
      system,
      drainMs: 50,
      maxRestarts: 10_000
    })
    const ids = ["a", "b", "c"]
    const chats = await Promise.all(ids.map((id) => troupe.chat(id)))
    const { tree, process, timeline, kill } = Observation.make(troupe)
    const left = [tree.subscribe(() => {}), ...ids.map((id) => timeline(id).subscribe(() => {}))]
    for (let step = 0; step < 40; step++) {
      const chat = chats[Math.floor(chance() * chats.length)]
      if (chance() < 0.5) chat?.send(`say ${step}`)
      if (chance() < 0.2) void chat?.cancel()
      await hop()
      await clock.advance(Math.floor(chance() * 300))
      // The first is the top of the tree: nobody would start it again.
      const [, ...nodes] = all(tree.getState()?.tree)
      const node = nodes[Math.floor(chance() * nodes.length)]
      if (node === undefined || chance() < 0.4) continue
      const leave = process(node.id).subscribe(() => {})
      await kill(node.id)
      await clock.advance(200)
      expect(process(node.id).getState()?.alive ?? false).toBe(false)
      leave()
    }
    await hop()
    await clock.advance(2_000)
    for (const id of ids) {
      const spans = timeline(id).getState()?.spans ?? []
      expect(spans.filter(({ from, to }) => to !== undefined && to < from)).toEqual([])
      const running = chats.find((chat) => chat.id === id)?.getSnapshot()?.context.turn !== undefined
      const open = spans.filter(({ kind, to }) => to === undefined && kind !== "zombie")
      if (!running) expect(open).toEqual([])
      expect(open.filter(({ kind }) => kind === "turn").length).toBeLessThanOrEqual(1)
      expect(new Set(spans.map((span) => span.id)).size).toBe(spans.length)
    }
    for (const leave of left) leave()
    const kernel: { readonly observer?: unknown } = system as unknown as { readonly observer?: unknown }
    expect(kernel.observer).toBe(undefined)
    const stopping = troupe.stop()
    await clock.advance(1_000)
    await stopping
    await System.stop(system)
    expect(clock.pending).toBe(0)
  }
)
