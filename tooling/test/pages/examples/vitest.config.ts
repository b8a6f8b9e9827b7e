import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { doctestPlugin } from "../../../doctest/doctestPlugin.ts"

export default defineConfig({
  root: import.meta.dirname,
  plugins: [doctestPlugin(join(import.meta.dirname, "../../../.."))],
  test: { include: [], includeSource: ["*.md", "Documented.ts"] }
})
