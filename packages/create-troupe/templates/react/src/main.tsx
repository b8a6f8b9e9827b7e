/** The page. Its chats run in the page itself: there is no server. */
import { Troupe } from "@troupe/chat"
import { local, TroupeProvider } from "@troupe/react"
import { createRoot } from "react-dom/client"
import { agent } from "./agent.ts"
import { Conversation } from "./Conversation.tsx"
import { adapter } from "./model.ts"
import "./page.css"

const troupe = await Troupe.start({ ...agent, adapter })
const root = document.querySelector("#root")
if (root === null) throw new Error("index.html has no element #root")

createRoot(root).render(
  <TroupeProvider link={local(troupe)}>
    <Conversation id="first" />
  </TroupeProvider>
)
