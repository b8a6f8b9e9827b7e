/** The shop as a service on HTTP. */
import { createServer } from "node:http"
import { GenServer, Observer, OtpError, System } from "@troupe/otp"
import { addressOf, openShop, products } from "./shop.ts"

const system = System.make()
const shop = await openShop(system)

/** Answers one request: `GET /`, `GET /mugs`, `POST /mugs?take=2`. */
const answer = async (method: string, url: URL): Promise<readonly [status: number, text: string]> => {
  if (url.pathname === "/") return [200, Observer.format(Observer.tree(system))]
  const product = products.find((name) => url.pathname === `/${name}`)
  if (product === undefined) return [404, `The products are ${products.join(" and ")}.`]
  const request = method === "POST" ? { take: Number(url.searchParams.get("take")) } : "count"
  try {
    return [200, String(await GenServer.call(addressOf(shop, product), request))]
  } catch (error) {
    if (!(error instanceof OtpError.CallExit)) throw error
    return [500, `The process of the ${product} crashed, and was started again: ${error.message}`]
  }
}

const port = Number(process.env.PORT ?? 3000)
const http = createServer(async (request, response) => {
  const [status, text] = await answer(request.method ?? "GET", new URL(request.url ?? "/", "http://localhost"))
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`)
})
http.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`))

process.once("SIGTERM", async () => {
  http.close()
  await System.stop(system)
})
