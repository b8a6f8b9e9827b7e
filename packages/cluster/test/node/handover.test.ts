import { Fake } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { expect, it } from "vitest"
import { nodes, post, until } from "../double/clusterNodes.ts"

/** Another id of the same bucket. */
const neighbour = (id: string): string => {
  for (let at = 0; ; at++) if (Store.bucketOf(`anna/d${at}`) === Store.bucketOf(id)) return `d${at}`
}

it("CLUSTER5: a chat that a request starts while another of its bucket leaves is ended too, and its page goes on elsewhere", async () => {
  const d = neighbour("anna/c")
  const { node, placements, store } = nodes(
    Fake.make({
      scripts: [
        [{ text: "Hi" }, { finish: "stop" }],
        [{ text: "Once " }, { hang: true }]
      ]
    })
  )
  const [loading, loaded, drafting, drafted] = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  let isSlow = false
  const slow = new Proxy(store, {
    get: (_, name) => {
      if (isSlow && name === "load")
        return async (id: string) => {
          if (id !== `anna/${d}`) return store.load(id)
          loading?.resolve()
          await loaded?.promise
          return store.load(id)
        }
      if (isSlow && name === "keepDraft")
        return async (...args: ReadonlyArray<never>) => {
          drafting?.resolve()
          await drafted?.promise
          return Reflect.apply(Reflect.get(store, name) as (...all: ReadonlyArray<never>) => unknown, store, args)
        }
      return Reflect.get(store, name) as unknown
    }
  })
  const [a, b] = [await node({ troupe: { store: slow } }), await node()]
  await post(`${a.url}/chats/${d}/messages?wait`, { input: "Hello" })
  await (await a.troupe.local.chat(`anna/${d}`)).stop()
  await post(`${a.url}/chats/c/messages`, { input: "Hello", id: "m1" })
  await until(async () => JSON.stringify(await (await fetch(`${a.url}/chats/c`)).json()).includes("Once "))
  isSlow = true
  const page = fetch(`${a.url}/chats/${d}/events`)
  await loading?.promise
  const moved = placements.move("anna/c", b.troupe.address)
  await drafting?.promise
  loaded?.resolve()
  const answer = await page
  drafted?.resolve()
  await moved
  await until(() => !a.troupe.isAlive(`anna/${d}`))
  await until(() => b.troupe.isAlive(`anna/${d}`))
  expect(a.troupe.isAlive(`anna/${d}`)).toBe(false)
  await answer.body?.cancel()
})
