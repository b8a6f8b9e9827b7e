import { describe, expect, it } from "vitest"
import { nodes } from "../double/clusterNodes.ts"

const chatOf = async () => (await nodes().node()).troupe.chat("c")

describe("an argument that a chat of the cluster refuses", () => {
  it("CLREF1: is refused once, with the field, by a reader", async () => {
    const chat = await chatOf()
    const refused = chat.attach({ cursor: "zz" }).next()
    await expect(refused).rejects.toMatchObject({ _tag: "ValidationError", errors: [{ field: ["cursor"] }] })
  })
})
