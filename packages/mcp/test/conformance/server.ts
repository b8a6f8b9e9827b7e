/** The server under test by the official conformance suite. It writes its URL when it listens, and ends when its input is closed. */
import {
  completable,
  type ElicitRequestFormParams,
  type McpServer,
  ResourceTemplate,
  type ServerContext
} from "@modelcontextprotocol/server"
import { error, Fake, ok, Troupe } from "@troupe/chat"
import { Tool } from "@troupe/chat/tools"
import { listen } from "@troupe/server/Node"
import * as z from "zod"
import { Mcp } from "../../src/index.ts"

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
const image = { type: "image", image: { base64: png, mediaType: "image/png" } }
const base64 = (text: string): string => Buffer.from(text).toString("base64")

const tools = [
  Tool.make({
    name: "test_simple_text",
    description: "Returns a text",
    handler: () => ok("This is a simple text response for testing.")
  }),
  Tool.make({ name: "test_image_content", description: "Returns an image", handler: () => ok([image]) }),
  Tool.make({
    name: "test_audio_content",
    description: "Returns audio",
    handler: () => ok([{ type: "file", file: { base64: wav }, mediaType: "audio/wav" }])
  }),
  Tool.make({
    name: "test_multiple_content_types",
    description: "Returns three parts",
    handler: () =>
      ok([
        { type: "text", text: "Multiple content types test:" },
        image,
        { type: "file", file: { base64: base64("{}") }, mediaType: "application/json", filename: "mixed.json" }
      ])
  }),
  Tool.make({
    name: "test_embedded_resource",
    description: "Returns a file",
    handler: () =>
      ok([{ type: "file", file: { base64: base64("embedded") }, mediaType: "text/plain", filename: "embedded.txt" }])
  }),
  Tool.make({
    name: "test_error_handling",
    description: "Fails",
    handler: () => error("This tool intentionally returns an error for testing")
  }),
  Tool.make({
    name: "test_tool_with_progress",
    description: "Reports progress",
    handler: (_, { progress }) => {
      for (const at of [0, 50, 100]) progress({ progress: at, total: 100 })
      return ok("done")
    }
  }),
  Tool.make({
    name: "json_schema_2020_12_tool",
    description: "Tool with JSON Schema 2020-12 features",
    parameters: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false
    },
    handler: () => ok("fits")
  })
]

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })

/** Sends a request on the stream of a call: the other stream of the session may not be open yet. */
const related = ({ id }: ServerContext["mcpReq"]) => ({ relatedRequestId: id })

const titled = (prefix: string) => [1, 2, 3].map((at) => ({ const: `value${at}`, title: `${prefix} ${at}` }))

const forms: Readonly<Record<string, ElicitRequestFormParams["requestedSchema"]>> = {
  test_elicitation_sep1034_defaults: {
    type: "object",
    properties: {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true }
    }
  },
  test_elicitation_sep1330_enums: {
    type: "object",
    properties: {
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: { type: "string", oneOf: titled("Option") },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
      titledMulti: { type: "array", items: { anyOf: titled("Choice") } }
    }
  }
}

/** What no tool or agent of a Troupe is: resources, prompts, sampling, logs. */
const register = (server: McpServer): void => {
  for (const [name, requestedSchema] of Object.entries(forms)) {
    server.registerTool(name, { description: "Asks" }, async (context) => {
      const answer = await context.mcpReq.elicitInput(
        { message: "Please answer", requestedSchema },
        related(context.mcpReq)
      )
      return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`)
    })
  }
  const asking = { inputSchema: z.object({ message: z.string() }), description: "Asks" }
  server.registerTool("test_elicitation", asking, async ({ message }, { mcpReq }) => {
    const fields = { username: { type: "string" as const }, email: { type: "string" as const } }
    const requestedSchema = { type: "object" as const, properties: fields, required: ["username", "email"] }
    return text(
      `User response: ${JSON.stringify(await mcpReq.elicitInput({ message, requestedSchema }, related(mcpReq)))}`
    )
  })
  const sampling = { inputSchema: z.object({ prompt: z.string() }), description: "Asks the model of the client" }
  server.registerTool("test_sampling", sampling, async ({ prompt }, { mcpReq }) => {
    const messages = [{ role: "user" as const, content: { type: "text" as const, text: prompt } }]
    return text(
      `LLM response: ${JSON.stringify(await mcpReq.requestSampling({ messages, maxTokens: 100 }, related(mcpReq)))}`
    )
  })
  server.registerTool("test_tool_with_logging", { description: "Logs" }, async ({ mcpReq }) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await mcpReq.log("info", line)
    }
    return text("done")
  })
  server.registerTool("test_reconnection", { description: "Closes its stream" }, async ({ http }) => {
    http?.closeSSE?.()
    return text("Reconnected")
  })
  const plain = { description: "A text", mimeType: "text/plain" }
  const static_ = "This is the content of the static text resource."
  server.registerResource("text", "test://static-text", plain, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: static_ }]
  }))
  server.registerResource("binary", "test://static-binary", { description: "An image" }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: "image/png", blob: png }]
  }))
  server.registerResource("watched", "test://watched-resource", plain, async (uri) => ({
    contents: [{ uri: uri.href, text: "watched" }]
  }))
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined })
  server.registerResource("template", template, { description: "Data" }, async (uri, { id }) => ({
    contents: [
      {
        uri: uri.href,
        mimeType: "application/json",
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` })
      }
    ]
  }))
  server.server.registerCapabilities({ logging: {}, resources: { subscribe: true }, completions: {} })
  server.server.setRequestHandler("resources/subscribe", () => ({}))
  server.server.setRequestHandler("resources/unsubscribe", () => ({}))
  const user = (value: string) => ({ role: "user" as const, content: { type: "text" as const, text: value } })
  server.registerPrompt("test_simple_prompt", { description: "A prompt" }, () => ({
    messages: [user("This is a simple prompt for testing.")]
  }))
  const argument = completable(z.string(), (value) => ["paris", "park"].filter((name) => name.startsWith(value)))
  const two = { description: "Two arguments", argsSchema: z.object({ arg1: argument, arg2: z.string() }) }
  server.registerPrompt("test_prompt_with_arguments", two, ({ arg1, arg2 }) => ({
    messages: [user(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)]
  }))
  const embedded = { description: "A resource", argsSchema: z.object({ resourceUri: z.string() }) }
  server.registerPrompt("test_prompt_with_embedded_resource", embedded, ({ resourceUri }) => ({
    messages: [
      {
        role: "user",
        content: {
          type: "resource",
          resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." }
        }
      },
      user("Please process the embedded resource above.")
    ]
  }))
  server.registerPrompt("test_prompt_with_image", { description: "An image" }, () => ({
    messages: [
      { role: "user", content: { type: "image", data: png, mimeType: "image/png" } },
      user("Please analyze the image above.")
    ]
  }))
}

const adapter = Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] })
const troupe = await Troupe.start({ adapter })
const agents = { ask: { description: "Answers" } }
const service = Mcp.serve(troupe, { agents, tools, register, authorize: () => ({ owner: "conformance" }) })
const { url, close } = await listen(service, { graceMs: 0 })
process.stdout.write(`${url}/mcp\n`)
process.stdin.resume().once("end", () => void close().then(() => troupe.stop()))
