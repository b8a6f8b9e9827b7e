/**
 * A server of MCP in the playground's own program, which asks for a form.
 *
 * @module
 */
import { InMemoryTransport } from "@modelcontextprotocol/client"
import { inputRequired, McpServer } from "@modelcontextprotocol/server"
import { Mcp } from "@troupe/mcp"
import type { System } from "@troupe/otp"

const form = {
  mode: "form" as const,
  message: "Which room?",
  requestedSchema: {
    type: "object" as const,
    properties: {
      nights: { type: "integer" as const, title: "Nights", minimum: 1, maximum: 30 },
      view: { type: "string" as const, title: "View", enum: ["sea", "garden"] },
      breakfast: { type: "boolean" as const, title: "Breakfast", default: true }
    },
    required: ["nights", "view"]
  }
}

interface Answer {
  readonly action: string
  readonly content?: { readonly nights: number; readonly view: string; readonly breakfast: boolean }
}

const hotel = (): McpServer => {
  const server = new McpServer({ name: "hotel", version: "1.0.0" })
  server.registerTool("book_room", { description: "Books a room in a hotel" }, async ({ mcpReq }) => {
    const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] })
    const room = mcpReq.inputResponses?.["room"] as Answer | undefined
    if (room === undefined) return inputRequired({ inputRequests: { room: inputRequired.elicit(form) } })
    if (room.action !== "accept" || room.content === undefined) return text("No room was booked")
    const { nights, view, breakfast } = room.content
    return text(`${nights} nights with a view of the ${view}, ${breakfast ? "with" : "without"} breakfast`)
  })
  return server
}

/** Starts the server as a process of a system. */
export const startHotel = (system: System.System): Promise<Mcp.McpServer> =>
  Mcp.start(
    system,
    {
      transport: () => {
        const [ours, theirs] = InMemoryTransport.createLinkedPair()
        void hotel().connect(theirs)
        return ours
      }
    },
    // The form is the decision of the person: the call needs no other one.
    { name: "hotel", protocol: "older", tool: () => ({ effect: "read" }) }
  )
