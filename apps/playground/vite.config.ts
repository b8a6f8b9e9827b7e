import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"
import { site } from "../../tooling/release/addresses.ts"

export default defineConfig({
  plugins: [react(), { name: "docs", transformIndexHtml: (page) => page.replace("%DOCS%", site) }],
  build: { outDir: "dist/page", emptyOutDir: true, target: "es2024" }
})
