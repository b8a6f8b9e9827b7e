import { describe, expect, test } from "vitest"
import { codeOf, served } from "../double/served.ts"

const app = "https://app.example.com"

describe("ORIGIN1 a page", () => {
  test.each([
    [{ origin: "https://evil.example" }, "403 origin_refused"],
    [{ origin: "null" }, "403 origin_refused"],
    [{ origin: "file://", host: "localhost" }, "403 origin_refused"],
    [{ origin: "http://localhost:81" }, "403 origin_refused"],
    [{ origin: "http://localhost.evil.example" }, "403 origin_refused"],
    [{ "sec-fetch-site": "cross-site" }, "403 origin_refused"],
    [{ "sec-fetch-site": "same-site" }, "403 origin_refused"],
    [{ origin: "http://localhost" }, "404 unknown_chat"],
    [{ "sec-fetch-site": "same-origin" }, "404 unknown_chat"],
    [{ "sec-fetch-site": "none" }, "404 unknown_chat"],
    [{ origin: app, "sec-fetch-site": "cross-site" }, "404 unknown_chat"]
  ])("that asks with %j is answered %s", async (headers, code) => {
    const { ask } = await served({}, { origins: [app] })
    expect(await codeOf(await ask("GET", "/chats/c1", undefined, headers))).toBe(code)
  })

  test("of a listed origin may read what it is answered, refusals too; of another it may not", async () => {
    const { ask } = await served({}, { origins: [app] })
    const opened = await ask("GET", "/chats/c1", undefined, { origin: app })
    expect(opened.headers.get("access-control-allow-origin")).toBe(app)
    expect(opened.headers.get("vary")).toBe("origin")
    const refused = await ask("GET", "/chats/c1", undefined, { origin: "https://evil.example" })
    expect(refused.headers.has("access-control-allow-origin")).toBe(false)
  })

  test("of a listed origin gets the permitted methods before it asks, and no other origin does", async () => {
    const { ask } = await served({}, { origins: [app] })
    const asked = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type, authorization, bad name"
    }
    const allowed = await ask("OPTIONS", "/chats/c1/messages", undefined, { origin: app, ...asked })
    expect(allowed.status).toBe(204)
    expect(allowed.headers.get("access-control-allow-headers")).toBe("content-type, authorization")
    expect(
      await codeOf(await ask("OPTIONS", "/chats/c1/messages", undefined, { origin: "http://localhost", ...asked }))
    ).toBe("405 method_not_allowed")
    expect(
      await codeOf(await ask("OPTIONS", "/chats/c1/messages", undefined, { origin: "https://evil.example", ...asked }))
    ).toBe("403 origin_refused")
  })
})

test("ORIGIN2 a host that is not listed is refused", async () => {
  const { ask, server } = await served({}, { hosts: ["localhost"] })
  expect(await codeOf(await ask("GET", "/chats/c1"))).toBe("404 unknown_chat")
  const rebound = new Request("http://evil.example/chats/c1", { headers: { origin: "http://evil.example" } })
  expect(await codeOf(await server.fetch(rebound))).toBe("403 host_refused")
})
