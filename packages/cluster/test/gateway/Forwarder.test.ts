import { Clock } from "@troupe/otp"
import { expect, it } from "vitest"
import { Forwarder } from "../../src/gateway/Forwarder.ts"

it("HOP3: after `close` a home is not looked up again", async () => {
  const forgotten = Promise.withResolvers<void>()
  const forwarder = new Forwarder({
    placement: {
      address: "here:1",
      homeOf: async () => undefined,
      forget: () => forgotten.resolve()
    },
    client: { request: () => Promise.reject(new Error("no home was found")) },
    clock: Clock.live,
    isHome: () => false,
    nodes: { has: async () => false },
    deadlineMs: 600_000
  })
  const looking = forwarder.toHome("c", { mayRepeat: true }, () => Promise.reject(new Error("no home was found")))
  const end = looking.then(
    () => "answered",
    ({ code }: { readonly code: string }) => code
  )
  await forgotten.promise
  await forwarder.close()
  expect(await end).toBe("moved")
})
