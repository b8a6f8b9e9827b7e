/** The page. Its chats run in the page itself: there is no server. */
import { Troupe } from "@troupe/chat"
import { local, TroupeProvider } from "@troupe/react"
import { createRoot } from "react-dom/client"
import { agent } from "./agent.ts"
import { Conversation } from "./Conversation.tsx"
import { adapter } from "./model.ts"
import "@troupe/react/theme.css"
import "./page.css"

const troupe = await Troupe.start({ ...agent, adapter })
const root = document.querySelector("#root")
if (root === null) throw new Error("index.html has no element #root")

createRoot(root).render(
  <TroupeProvider link={local(troupe)}>
    <main>
      <h1>A chat with Troupe</h1>
      <Conversation id="first" />
    </main>
  </TroupeProvider>
)
