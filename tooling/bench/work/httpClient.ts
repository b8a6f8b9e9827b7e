/** The process of the client: posts the turns that its parent orders, one after another, and reads each answer to its end. */
import { Agent, request } from "node:http"
import { requestOf, type Turns } from "./httpTurn.ts"

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

let begun = 0

const turn = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const { path, body } = requestOf(begun++)
    const headers = { accept: "text/event-stream", "content-type": "application/json" }
    const sent = request({ port, host: "127.0.0.1", method: "POST", path, headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the server answered ${response.statusCode}`))
      response.resume().once("end", resolve).once("error", reject)
    })
    sent.once("error", reject).end(body)
  })

const take = async ({ port, turns }: Turns): Promise<void> => {
  for (let done = 0; done < turns; done++) await turn(port)
}

process.on("message", (turns: Turns) => {
  take(turns).then(
    () => process.send?.("done"),
    (error: unknown) => process.send?.(String(error))
  )
})
