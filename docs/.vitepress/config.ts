import { slug } from "github-slugger"
import { defineConfig } from "vitepress"
import llms from "vitepress-plugin-llms"
import { repository, site } from "../../tooling/release/addresses.ts"
import { withDiagrams } from "./diagrams.ts"
import { examplePlugin, withRunButtons } from "./examples.ts"
import { withGuarantees } from "./footnotes.ts"
import { withPlainBraces } from "./plainBraces.ts"
import { withSourceLinks } from "./sourceLinks.ts"
import { nav, sidebar } from "./sidebar.ts"

const description =
  "OTP for conversations, in TypeScript: chats, tools and agents that survive crashes, timeouts and cancels."

export default defineConfig({
  title: "Troupe",
  description,
  lang: "en",
  cleanUrls: true,
  srcExclude: ["**/README.md", "dist/**"],
  outDir: "dist/site",
  cacheDir: "node_modules/.cache/vitepress",
  sitemap: { hostname: site },
  metaChunk: true,
  // The theme's home page has no landmark.
  transformHtml: (code) => code.replace('<div class="VPHome', '<div role="main" class="VPHome'),
  markdown: {
    // A heading has the same anchor here and where the repository is shown.
    anchor: { slugify: slug },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (md) => {
      withGuarantees(md)
      withSourceLinks(md)
      withPlainBraces(md)
      withRunButtons(md)
      withDiagrams(md)
    }
  },
  head: [
    ["link", { rel: "icon", type: "image/svg+xml", href: "/mark.svg" }],
    ["meta", { property: "og:title", content: "Troupe" }],
    ["meta", { property: "og:description", content: description }]
  ],
  vite: {
    build: { target: "esnext", chunkSizeWarningLimit: 2_000 },
    plugins: [examplePlugin(), llms({ domain: site, description })]
  },
  themeConfig: {
    logo: { src: "/mark.svg", alt: "" },
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: [...nav],
    sidebar,
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: "Edit this page" },
    externalLinkIcon: true,
    footer: { message: "MIT, the Troupe contributors." }
  }
})
