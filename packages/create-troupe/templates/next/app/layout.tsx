import type { ReactNode } from "react"
import "../src/page.css"

export const metadata = { title: "A chat with Troupe" }

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
