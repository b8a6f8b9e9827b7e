/** The resources and prompts of a server: as parts of messages, and as tools that a model calls. */
import type { Client, CompleteRequest, ContentBlock, Resource } from "@modelcontextprotocol/client"
import { error } from "@troupe/chat"
import type { HandlerResult } from "@troupe/chat/results"
import { describe } from "@troupe/chat/errors"
import { type ContentPart, Message } from "@troupe/chat/messages"
import { Tool } from "@troupe/chat/tools"
import { contentPart, handlerResult } from "./mcpResult.ts"
import type { McpOptions, McpResource, McpServer } from "../connection/index.ts"

/** The requests of a server about resources and prompts. */
export type Attachments = Pick<McpServer, "resources" | "read" | "prompts" | "prompt" | "complete">

/** Sends a request to the client that is current. */
export type Ask = <A>(run: (client: Client) => Promise<A>) => Promise<A>

/** The requests, each to the client that is current then. */
export const attachmentsOf = (ask: Ask): Attachments => ({
  resources: async () => {
    const { resources } = await ask((client) => client.listResources())
    const { resourceTemplates } = await ask((client) => client.listResourceTemplates()).catch(noTemplates)
    return [...resources.map(described), ...resourceTemplates.map(described)]
  },
  read: async (uri) => (await blocksAt(ask, uri)).map(contentPart),
  prompts: async () => (await ask((client) => client.listPrompts())).prompts,
  prompt: async (name, args = {}) => {
    const { messages } = await ask((client) => client.getPrompt({ name, arguments: { ...args } }))
    return messages.map(({ role, content }) => messageOf(role, contentPart(content)))
  },
  complete: async (of, argument) => {
    const ref: CompleteRequest["params"]["ref"] =
      "prompt" in of ? { type: "ref/prompt", name: of.prompt } : { type: "ref/resource", uri: of.uriTemplate }
    const { completion } = await ask((client) => client.complete({ ref, argument: { ...argument } }))
    return completion.values
  }
})

/** The tools for resources and prompts that the server has and the host wants; a tool of the server with the name comes first. */
export const attachmentTools = (
  has: ReturnType<Client["getServerCapabilities"]> = {},
  { resourceTools = false, promptTools = false, prefix = "" }: McpOptions,
  own: ReadonlyArray<Tool.Tool>,
  { resources, prompts, prompt }: Attachments,
  ask: Ask
): ReadonlyArray<Tool.Tool> => {
  const reading = (
    name: string,
    description: string,
    fields: Readonly<Record<string, unknown>>,
    run: (args: Record<string, unknown>) => Promise<HandlerResult>
  ): Tool.Tool =>
    Tool.make({
      name: prefix + name,
      description,
      effect: "read",
      parameters: {
        type: "object",
        properties: fields,
        required: Object.keys(fields).filter((field) => field !== "arguments")
      },
      handler: async (args) => {
        try {
          return await run(args)
        } catch (failure) {
          return error(describe(failure))
        }
      }
    })
  const listed = async (list: () => Promise<unknown>) => handlerResult({ content: [], structuredContent: await list() })
  const tools = [
    ...(resourceTools && has.resources !== undefined
      ? [
          reading("list_resources", "Lists the resources that read_resource reads", {}, () => listed(resources)),
          reading("read_resource", "Reads a resource", { uri: { type: "string" } }, async ({ uri }) =>
            handlerResult({ content: [...(await blocksAt(ask, String(uri)))] })
          )
        ]
      : []),
    ...(promptTools && has.prompts !== undefined
      ? [
          reading("list_prompts", "Lists the prompts that get_prompt fills in", {}, () => listed(prompts)),
          reading(
            "get_prompt",
            "Fills in a prompt",
            { name: { type: "string" }, arguments: { type: "object", additionalProperties: { type: "string" } } },
            ({ name, arguments: args = {} }) => listed(() => prompt(String(name), args as Record<string, string>))
          )
        ]
      : [])
  ]
  return tools.filter(({ name }) => !own.some((tool) => tool.name === name))
}

/** A resource as the blocks of a result. */
const blocksAt = async (ask: Ask, uri: string): Promise<ReadonlyArray<ContentBlock>> => {
  const { contents } = await ask((client) => client.readResource({ uri }))
  return contents.map((resource) => ({ type: "resource", resource }))
}

const noTemplates = () => ({ resourceTemplates: [] })

const described = (
  resource: Pick<Resource, "name" | "description" | "mimeType"> & Pick<McpResource, "uri" | "uriTemplate">
): McpResource => {
  const { uri, uriTemplate, name, description, mimeType } = resource
  return JSON.parse(JSON.stringify({ uri, uriTemplate, name, description, mimeType })) as McpResource
}

const messageOf = (role: "user" | "assistant", part: ContentPart): Message.Message => {
  if (role === "user") return Message.user([part])
  return Message.assistant(part.type === "text" ? part.text : JSON.stringify(part))
}
