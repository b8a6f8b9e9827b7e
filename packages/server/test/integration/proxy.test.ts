import type { AddressInfo } from "node:net"
import { createServer, request as ask } from "node:http"
import { describe, expect, onTestFinished, test } from "vitest"
import * as Node from "../../src/node/Node.ts"
import { hello, served } from "../double/served.ts"
import type { ServerOptions } from "../../src/server/serverOptions.ts"

const open = async (options: Partial<ServerOptions>) => {
  const { server } = await served({ adapter: hello() }, { authorize: () => ({ owner: "anna" }), ...options })
  return server
}

/** A reverse proxy: it forwards each request, with the headers that `sent` makes of those that came. */
const proxied = async (
  target: string,
  sent: (headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>) => Record<string, string>
): Promise<string> => {
  const proxy = createServer((incoming, outgoing) => {
    const { url = "/", method = "GET", headers } = incoming
    const { hostname, port } = new URL(target)
    const onward = ask(
      { hostname, port, path: url, method, headers: { ...headers, ...sent(headers) } as Record<string, string> },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      }
    )
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

/** Asks as a browser does whose page came from `app.example`: `fetch` would set the host itself. */
const post = (url: string, headers: Readonly<Record<string, string>>): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const options = {
      hostname,
      port,
      path: "/chats/c1/messages",
      method: "POST",
      headers: { host: "app.example", "content-type": "application/json", ...headers }
    }
    const request = ask(options, (answer) => {
      let text = ""
      answer.setEncoding("utf8")
      answer.on("data", (chunk: string) => (text += chunk))
      answer.on("end", () => resolve(`${answer.statusCode} ${text}`))
    })
    request.on("error", reject)
    request.end(JSON.stringify({ input: "Hello" }))
  })

const page = { origin: "https://app.example" }

describe("ORIGIN3 a page of the server's own host", () => {
  test("is let in through a proxy that keeps the host header", async () => {
    const { url, close } = await Node.listen(await open({ hosts: ["app.example"] }))
    onTestFinished(close)
    const proxy = await proxied(url, () => ({}))
    expect(await post(proxy, page)).toMatch(/^202 /u)
    expect(await post(proxy, { origin: "https://evil.example" })).toMatch(/^403 .*origin_refused/u)
  })

  test("is let in through a proxy that replaces the host header where the browser says same-origin", async () => {
    const { url, close } = await Node.listen(await open({}))
    onTestFinished(close)
    const proxy = await proxied(url, () => ({ host: new URL(url).host }))
    expect(await post(proxy, { ...page, "sec-fetch-site": "same-origin" })).toMatch(/^202 /u)
    expect(await post(proxy, { ...page, "sec-fetch-site": "same-site" })).toMatch(/^403 .*origin_refused/u)
  })

  test("is let in through such a proxy by x-forwarded-host, by the option alone", async () => {
    const trusting = await Node.listen(await open({ trustForwardedHost: true, hosts: ["app.example"] }), {})
    onTestFinished(trusting.close)
    const wary = await Node.listen(await open({}))
    onTestFinished(wary.close)
    const forwarding = (url: string) =>
      proxied(url, ({ host }) => ({ host: new URL(url).host, "x-forwarded-host": `${String(host)}, proxy.internal` }))
    const through = await forwarding(trusting.url)
    expect(await post(through, page)).toMatch(/^202 /u)
    expect(await post(through, { origin: "https://evil.example" })).toMatch(/^403 .*origin_refused/u)
    expect(await post(through, { ...page, host: "evil.example" })).toMatch(/^403 .*host_refused/u)
    expect(await post(await forwarding(wary.url), page)).toMatch(/^403 .*origin_refused/u)
  })

  test("is let in where a framework writes another host into the request's URL, as Next.js does", async () => {
    const server = await open({ hosts: ["app.example"] })
    const framework = await Node.listen({
      ...server,
      fetch: (request) => server.fetch(new Request(request.url.replace("app.example", "localhost:3000"), request))
    })
    onTestFinished(framework.close)
    expect(await post(framework.url, page)).toMatch(/^202 /u)
    expect(await post(framework.url, { origin: "http://localhost:3000" })).toMatch(/^403 .*origin_refused/u)
  })

  test("is known by its port too, and a port that is the default of its scheme counts as none", async () => {
    const server = await open({})
    const asked = (host: string, origin: string) =>
      server
        .fetch(new Request("http://localhost:3000/chats/c1", { headers: { host, origin } }))
        .then(({ status }) => status)
    expect(await asked("app.example:443", "https://app.example")).toBe(404)
    expect(await asked("app.example", "https://app.example")).toBe(404)
    expect(await asked("app.example:8443", "https://app.example")).toBe(403)
    expect(await asked("app.example:443", "http://app.example")).toBe(403)
  })
})

test("ORIGIN3 a refusal prints the page's origin and the host that was asked, and says which option to set", async () => {
  const { url, close } = await Node.listen(await open({}))
  onTestFinished(close)
  const refusal = await post(await proxied(url, () => ({ host: new URL(url).host })), page)
  expect(refusal).toContain("https://app.example")
  expect(refusal).toContain(new URL(url).host)
  expect(refusal).toContain("`origins`")
  expect(refusal).toContain("`trustForwardedHost`")
  const guarded = await post(url, page)
  expect(guarded).toMatch(/^403 .*host_refused/u)
  expect(guarded).toContain("app.example")
  expect(guarded).toContain("`hosts`")
})
