import type { NextConfig } from "next"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

const config: NextConfig = {
  output: "standalone",
  outputFileTracingRoot: root,
  turbopack: { root },
  // The types are checked with the rest of this workspace.
  typescript: { ignoreBuildErrors: true },
  // Only a workspace with TypeScript sources needs this: published packages are JavaScript.
  transpilePackages: ["@troupe/otp", "@troupe/chat", "@troupe/server"]
}

export default config
