/**
 * The order of the pages: what everybody reads comes first. The theme's links to the previous and the next page follow it.
 *
 * @module
 */
import type { DefaultTheme } from "vitepress"

const page = (text: string, link: string): DefaultTheme.SidebarItem => ({ text, link })

const group = (
  text: string,
  items: ReadonlyArray<DefaultTheme.SidebarItem>,
  collapsed?: boolean
): DefaultTheme.SidebarItem => ({ text, items: [...items], ...(collapsed === undefined ? {} : { collapsed }) })

/** The groups of pages, in the order of reading. */
export const sidebar: ReadonlyArray<DefaultTheme.SidebarItem> = [
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
  group(
    "Tools and people",
    [
      page("Results with images", "/tool-results"),
      page("Control of running tools", "/control"),
      page("Durable calls and approvals", "/durable-calls"),
      page("The human inbox", "/human-inbox"),
      page("Hooks", "/hooks"),
      page("Dispatch without a chat", "/dispatch"),
      page("MCP", "/mcp"),
      page("Finding tools", "/finding-tools"),
      page("Skills", "/skills")
    ],
    true
  ),
  group("Agents", [page("Sub-agents", "/sub-agents"), page("Background work", "/background-work")], true),
  group(
    "Conversations",
    [
      page("The log of a conversation", "/history"),
      page("Reasoning", "/reasoning"),
      page("Images and files", "/multi-modal"),
      page("Cost", "/cost")
    ],
    true
  ),
  group(
    "Pages and servers",
    [
      page("React", "/react"),
      page("The observer", "/observer"),
      page("Protocols", "/protocols"),
      page("Posted messages", "/posts"),
      page("Deploying", "/deploying"),
      page("Many machines", "/scaling"),
      page("Tracing", "/tracing")
    ],
    true
  ),
  group(
    "OTP for TypeScript",
    [
      page("Processes", "/processes"),
      page("Supervision", "/supervision"),
      page("State machines", "/state-machines"),
      page("Tasks", "/tasks"),
      page("Back-pressure", "/back-pressure"),
      page("Parity with Elixir", "/otp-parity")
    ],
    true
  ),
  group(
    "Concepts",
    [
      page("How a turn runs", "/how-a-turn-runs"),
      page("Design", "/design"),
      page("Guarantees", "/guarantees"),
      page("Glossary", "/glossary")
    ],
    true
  ),
  group(
    "Coming from",
    [
      page("The AI SDK", "/coming-from-the-ai-sdk"),
      page("LangGraph", "/coming-from-langgraph"),
      page("OpenAI Agents", "/coming-from-openai-agents"),
      page("Elixir", "/coming-from-elixir"),
      page("ALLM", "/coming-from-allm")
    ],
    true
  ),
  page("Upgrading", "/upgrading")
]

/** The links at the top of each page. */
export const nav: ReadonlyArray<DefaultTheme.NavItem> = [
  { text: "Guide", link: "/guide" },
  { text: "Guarantees", link: "/guarantees" }
]
