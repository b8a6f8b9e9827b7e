/**
 * The order of the pages: what everybody reads comes first. The theme's links to the previous and the next page follow it.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { DefaultTheme } from "vitepress"

const page = (text: string, link: string): DefaultTheme.SidebarItem => ({ text, link })

const group = (text: string, items: ReadonlyArray<DefaultTheme.SidebarItem>): DefaultTheme.SidebarItem => ({
  text,
  items: [...items]
})

/** The groups of pages, in the order of reading. */
const pages: ReadonlyArray<DefaultTheme.SidebarItem> = [
  group("Begin", [
    page("Start in five minutes", "/start"),
    page("A chat in my app", "/paths/chat"),
    page("A team of agents", "/paths/team"),
    page("OTP for TypeScript", "/paths/otp")
  ]),
  group("The pages everybody needs", [
    page("Guide", "/guide"),
    page("Tools", "/tools"),
    page("Streams", "/streams"),
    page("Permissions and hooks", "/permissions"),
    page("Structured output", "/structured-output"),
    page("Policies and halts", "/policies"),
    page("Sessions", "/sessions"),
    page("Durability", "/durability"),
    page("Agents", "/agents"),
    page("Providers", "/providers"),
    page("Serving over HTTP", "/serving"),
    page("Testing", "/testing")
  ]),
  group("Cookbook", [
    page("Conversations", "/cookbook/conversations"),
    page("Tools and people", "/cookbook/tools"),
    page("Agents and servers", "/cookbook/agents")
  ]),
  group("Tools and people", [
    page("Results with images", "/tool-results"),
    page("Control of running tools", "/control"),
    page("Durable calls and approvals", "/durable-calls"),
    page("The human inbox", "/human-inbox"),
    page("Hooks", "/hooks"),
    page("Dispatch without a chat", "/dispatch"),
    page("MCP client", "/mcp"),
    page("Finding tools", "/finding-tools"),
    page("Skills", "/skills")
  ]),
  group("Agents", [
    page("Sub-agents", "/sub-agents"),
    page("Background work", "/background-work"),
    page("Teams", "/teams")
  ]),
  group("Conversations", [
    page("The log of a conversation", "/history"),
    page("Long conversations", "/long-conversations"),
    page("Memory", "/memory"),
    page("Reasoning", "/reasoning"),
    page("Images and files", "/multi-modal"),
    page("Cost", "/cost")
  ]),
  group("Pages and servers", [
    page("React", "/react"),
    page("Components", "/components"),
    page("The observer", "/observer"),
    page("Protocols", "/protocols"),
    page("MCP server", "/mcp-server"),
    page("Posted messages", "/posts"),
    page("Deploying", "/deploying"),
    page("Many machines", "/scaling"),
    page("Tracing", "/tracing")
  ]),
  group("OTP for TypeScript", [
    page("Processes", "/processes"),
    page("Supervision", "/supervision"),
    page("State machines", "/state-machines"),
    page("Tasks", "/tasks"),
    page("Back-pressure", "/back-pressure"),
    page("Parity with Elixir", "/otp-parity")
  ]),
  group("Concepts", [
    page("Six ideas", "/concepts"),
    page("How a turn runs", "/how-a-turn-runs"),
    page("Design", "/design"),
    page("Guarantees", "/guarantees"),
    page("Glossary", "/glossary")
  ]),
  group("Coming from", [
    page("The AI SDK", "/coming-from-the-ai-sdk"),
    page("LangGraph", "/coming-from-langgraph"),
    page("OpenAI Agents", "/coming-from-openai-agents"),
    page("Mastra", "/coming-from-mastra"),
    page("Elixir", "/coming-from-elixir"),
    page("XState", "/coming-from-xstate"),
    page("ALLM", "/coming-from-allm")
  ]),
  group("Help", [
    page("Troubleshooting", "/troubleshooting"),
    page("Comparisons", "/comparisons"),
    page("Versions", "/versions"),
    page("Upgrading", "/upgrading")
  ])
]

const linksOf = (items: ReadonlyArray<DefaultTheme.SidebarItem>): ReadonlyArray<string> =>
  items.flatMap(({ link, items: inner = [] }) => [...(link === undefined ? [] : [link]), ...linksOf(inner)])

/** The address of each page, in the order of reading. */
export const linked = linksOf(pages)

/** The sidebar of the reference, which `reference.ts` writes. */
const reference = (): ReadonlyArray<DefaultTheme.SidebarItem> => {
  const path = join(import.meta.dirname, "../reference/sidebar.json")
  if (!existsSync(path)) return []
  return JSON.parse(readFileSync(path, "utf8")) as ReadonlyArray<DefaultTheme.SidebarItem>
}

/** The sidebars by the paths of their pages. */
export const sidebar: DefaultTheme.SidebarMulti = { "/reference/": [...reference()], "/": [...pages] }

/** The links at the top of each page. */
export const nav: ReadonlyArray<DefaultTheme.NavItem> = [
  { text: "Start", link: "/start" },
  { text: "Guide", link: "/guide" },
  { text: "Cookbook", link: "/cookbook/conversations" },
  { text: "Reference", link: "/reference/" },
  { text: "Troubleshooting", link: "/troubleshooting" },
  { text: "Guarantees", link: "/guarantees" }
]
