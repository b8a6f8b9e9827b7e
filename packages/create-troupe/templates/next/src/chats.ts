/** The chats of this program, which every route shares. They stay when `next dev` loads the modules again. */
import { Troupe } from "@troupe/chat"
import { Server, singleton } from "@troupe/server"
import { agent } from "./agent.ts"
import { adapter } from "./model.ts"
import { store } from "./store.ts"

export const chats = () =>
  singleton("chats", async () => {
    const troupe = await Troupe.start({ ...agent, adapter, store })
    // Your login goes here: `owner` is the user whose conversations the request sees, and `may` is what the user may decide.
    return Server.make({ troupe, authorize: () => ({ owner: "anna", may: { approve: true } }) })
  })
