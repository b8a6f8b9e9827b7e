import "@troupe/react/theme.css"
import "./page.css"
import { connect } from "@troupe/server/Client"
import { TroupeProvider } from "@troupe/react"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { config } from "zod/v4/core"
import { App } from "./App.tsx"

// The page's content security policy forbids `eval`.
config({ jitless: true })

const link = connect({ url: new URL("/troupe", location.href).href })
const root = document.querySelector("#root")
if (root === null) throw new Error("The page has no #root")

createRoot(root).render(
  <StrictMode>
    <TroupeProvider link={link}>
      <App />
    </TroupeProvider>
  </StrictMode>
)
