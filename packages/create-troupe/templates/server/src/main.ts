/** Serves the chats on Node. */
import { createServer } from "node:http"
import { toNode } from "@troupe/server/Node"
import { start } from "./app.ts"
import { adapter } from "./model.ts"
import { store } from "./store.ts"

const { app, stop } = await start({ adapter, store })
const port = Number(process.env.PORT ?? 3000)
const http = createServer(toNode(async (request) => app.fetch(request)))
http.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`))

process.once("SIGTERM", async () => {
  http.close()
  await stop()
  process.exit()
})
