/** The view of a chat, as it changes. */
import { events, frame, framesOf, lastFrame } from "./responses.ts"
import type { Call, Route } from "../http/index.ts"
import { ViewFrames } from "./viewFrames.ts"

/** Looking at a chat starts it. Nothing is stored until a message is sent. */
const view = async (call: Call): Promise<Response> => {
  const id = call.params["id"] ?? ""
  call.claimStream()
  const chat = await call.chats.chat(id)
  return call.stream(
    framesOf(call, new ViewFrames(id, chat, call.shown.snapshot), (item) => frame(JSON.stringify(item))),
    { last: lastFrame }
  )
}

export const viewRoutes: ReadonlyArray<Route> = [
  { method: "GET", path: "/chats/:id/view", handle: view, produces: [events], isEndless: true }
]
