import { describe, expect, test } from "vitest"
import type { Request } from "../../src/model/Request.ts"
import type { Thread } from "../../src/model/Thread.ts"
import * as Validate from "../../src/model/Validate.ts"

const request = (more: object): Request => ({ messages: [{ role: "user", content: "hi" }], tools: [], ...more })
const tool = (name: unknown) => ({ name, description: "", schema: {} })
const findings = (error: ReturnType<typeof Validate.request>) =>
  error?.errors.map(({ field, reason }) => `${field.join(".")} ${reason}`)

describe("checking a request", () => {
  test("a good one has no findings", () => {
    expect(Validate.request(request({ tools: [tool("a_B-9")], temperature: 2, maxTokens: 1 }))).toBeUndefined()
  })

  test("160 a name that is no text, empty or reserved is reported once, as that; any other that comes twice as duplicate_name too", () => {
    const found = (...names: ReadonlyArray<unknown>) => findings(Validate.request(request({ tools: names.map(tool) })))
    expect(found("", "")).toEqual(["tools.0.name empty", "tools.1.name empty"])
    expect(found(undefined, undefined)).toEqual(["tools.0.name invalid_format", "tools.1.name invalid_format"])
    expect(found("auto", "auto", 7, 7)).toEqual([
      "tools.0.name reserved_tool_name",
      "tools.1.name reserved_tool_name",
      "tools.2.name invalid_format",
      "tools.3.name invalid_format"
    ])
    expect(found("a b", "a b")).toEqual([
      "tools.0.name invalid_format",
      "tools.1.name invalid_format",
      "tools duplicate_name"
    ])
    expect(found("a", "a b", "a")).toEqual(["tools.1.name invalid_format", "tools duplicate_name"])
  })

  test("159 everything that is wrong is found, in a fixed order", () => {
    const wrong = {
      messages: [],
      tools: [tool("a b"), tool("a b")],
      temperature: 3,
      maxTokens: 0,
      responseFormat: "json"
    }
    expect(findings(Validate.request(request(wrong)))).toEqual([
      "messages empty",
      "tools.0.name invalid_format",
      "tools.1.name invalid_format",
      "tools duplicate_name",
      "temperature out_of_range",
      "max_tokens must_be_positive",
      "response_format invalid_shape"
    ])
  })

  test.each([
    ["", "empty"],
    ["a b", "invalid_format"],
    ["x".repeat(65), "invalid_format"],
    ["auto", "reserved_tool_name"],
    ["none", "reserved_tool_name"],
    ["required", "reserved_tool_name"],
    [7, "invalid_format"]
  ])("160 the tool name %j is %s", (name, reason) => {
    expect(findings(Validate.request(request({ tools: [tool(name)] })))).toEqual([`tools.0.name ${reason}`])
  })

  test.each([-0.1, 2.1, Number.NaN, "1", Number.POSITIVE_INFINITY])("temperature %s is out of range", (temperature) => {
    expect(findings(Validate.request(request({ temperature })))).toEqual(["temperature out_of_range"])
  })

  test.each([0, -1, 1.5, Number.NaN, "1"])("maxTokens %s is not positive", (maxTokens) => {
    expect(findings(Validate.request(request({ maxTokens })))).toEqual(["max_tokens must_be_positive"])
  })
})

describe("checking a thread", () => {
  const checked = (messages: unknown) => findings(Validate.thread({ messages } as Thread))

  test("an empty thread is valid, and calls need not pair up", () => {
    expect(checked([])).toBeUndefined()
    expect(checked([{ role: "tool", content: "x", toolCallId: "" }])).toBeUndefined()
  })

  test("every message is looked at", () => {
    expect(
      checked([
        { role: "robot", content: "x" },
        { role: "user", content: 7 },
        { role: "user", content: [{ type: "sound" }] },
        { role: "tool", content: "x" },
        null
      ])
    ).toEqual([
      "messages.0.role unknown",
      "messages.1.content invalid_type",
      "messages.2.content invalid_part_type",
      "messages.3.tool_call_id required",
      "messages.4.role unknown"
    ])
  })

  test.each([undefined, null, 7, [], { messages: "x" }])("%j is no thread", (value) => {
    expect(findings(Validate.thread(value as unknown as Thread))).toEqual(["thread invalid_type"])
  })
})

describe("checking one message or one tool", () => {
  test("what is wrong is named without a path", () => {
    expect(findings(Validate.message({ role: "tool", content: 7 } as never))).toEqual([
      "content invalid_type",
      "tool_call_id required"
    ])
    expect(findings(Validate.tool({ name: "a b", description: 7, schema: "x", summary: 7 } as never))).toEqual([
      "name invalid_format",
      "description not_a_string",
      "schema not_a_map",
      "summary not_a_string"
    ])
    expect(Validate.message({ role: "user", content: "hi" })?.reason).toBeUndefined()
    expect(Validate.tool({ name: "a", description: "", schema: {} })).toBeUndefined()
  })

  test("a content part has the fields of its kind", () => {
    const part = (value: object) => Validate.message({ role: "user", content: [value] } as never)?.reason
    expect(part({ type: "text", text: "hi" })).toBeUndefined()
    expect(part({ type: "image", image: { url: "https://example.com/cat.png" } })).toBeUndefined()
    expect(part({ type: "image", url: "https://example.com/cat.png" })).toBe("invalid_message")
  })
})

describe("checking what an image or a file is given as", () => {
  const image = (source: object) =>
    Validate.message({ role: "user", content: [{ type: "image", image: source }] } as never)
  const file = (source: object) =>
    Validate.message({ role: "user", content: [{ type: "file", mediaType: "text/plain", file: source }] } as never)

  test.each(["AAAA", "AAA=", "AA==", "a+/9", "AAAAAAA="])("%j is base64", (base64) => {
    expect(image({ base64, mediaType: "image/png" })).toBeUndefined()
    expect(image({ url: `data:image/png;base64,${base64}` })).toBeUndefined()
    expect(file({ base64 })).toBeUndefined()
  })

  test.each(["!", "AAA", "A===", "AA=A", "AAAA\n", "AA-_", "====", "é==="])(
    "%j is not, and cannot be sent",
    (base64) => {
      expect(findings(image({ base64, mediaType: "image/png" }))).toEqual(["content.0 unresolvable_image"])
      expect(findings(image({ url: `data:image/png;base64,${base64}` }))).toEqual(["content.0 unresolvable_image"])
      expect(findings(file({ base64 }))).toEqual(["content.0 unresolvable_file"])
    }
  )

  test("other URLs are the provider's to read", () => {
    expect(image({ url: "https://example.com/a.png?x=;base64,!" })).toBeUndefined()
    expect(image({ url: "HTTP://example.com/a.png" })).toBeUndefined()
    expect(file({ url: "data:,hello" })).toBeUndefined()
    expect(file({ url: "https://example.com/a.txt" })).toBeUndefined()
  })

  test.each(["", "not a url", "file:///etc/passwd", "ftp://a/b", "gs://a/b", "//a/b.png", "https://", "http://a b"])(
    "MEDIA1 %j is a URL that no provider can read",
    (url) => {
      expect(findings(image({ url }))).toEqual(["content.0 must_be_an_http_https_or_data_url of an image"])
      expect(findings(file({ url }))).toEqual(["content.0 must_be_an_http_https_or_data_url"])
    }
  )

  test("MEDIA2 a data URL is read alike in upper and lower case", () => {
    for (const url of ["DATA:image/png;base64,%%%", "data:image/png;BASE64,%%%", "data:IMAGE/png;x=y;Base64,A"]) {
      expect(findings(image({ url }))).toEqual(["content.0 unresolvable_image"])
      expect(findings(file({ url: url.replace(/image\/png/i, "text/plain") }))).toEqual(["content.0 unresolvable_file"])
    }
    expect(image({ url: "DATA:image/PNG;x=y;BASE64,AAAA" })).toBeUndefined()
    expect(file({ url: "data:text/plain,a;base64,!" })).toBeUndefined()
  })

  test("MEDIA2 an image is base64 that is not empty, and of one media type", () => {
    for (const url of ["data:image/png,hello", "data:image/svg+xml,%3Csvg", "data:image/png;base64;x=y,AAAA"]) {
      expect(findings(image({ url }))).toEqual(["content.0 must_be_base64 as data:image/png;base64,AAAA"])
    }
    expect(findings(image({ url: "data:image/png;base64," }))).toEqual(["content.0 must_not_be_empty"])
    expect(findings(image({ base64: "", mediaType: "image/png" }))).toEqual(["content.0 must_not_be_empty"])
    for (const mediaType of ["image/", "image/a/b", "image/ png", "image"]) {
      expect(findings(image({ base64: "AAAA", mediaType }))).toEqual([
        "content.0 must_have_the_media_type_of_an_image as image/png"
      ])
      expect(findings(image({ url: `data:${mediaType};base64,AAAA` }))).toEqual([
        "content.0 must_be_an_http_https_or_data_url of an image"
      ])
    }
    expect(file({ base64: "" })).toBeUndefined()
  })

  test("MEDIA2 the media type of a file is the one of its data URL", () => {
    const typed = (mediaType: string, url: string) =>
      findings(Validate.message({ role: "user", content: [{ type: "file", mediaType, file: { url } }] } as never)) ?? []
    for (const mediaType of ["application/pdf", "text/html", "text", ""]) {
      expect(typed(mediaType, "data:text/plain;base64,AAAA")).toEqual([
        "content.0 must_have_the_media_type_of_its_data_url"
      ])
    }
    for (const mediaType of ["text/plain", "TEXT/Plain; charset=utf-8", "text/*", "*/*"]) {
      expect(typed(mediaType, "data:text/plain;base64,AAAA")).toEqual([])
    }
    expect(typed("application/pdf", "data:;base64,AAAA")).toEqual([])
    expect(typed("application/pdf", "https://example.com/a.txt")).toEqual([])
  })

  test("MEDIA1 an image has the media type of an image", () => {
    for (const url of ["data:,hello", "data:;base64,AAAA", "data:text/html;base64,AAAA", "data:image/png"]) {
      expect(findings(image({ url }))).toEqual(["content.0 must_be_an_http_https_or_data_url of an image"])
    }
    expect(findings(image({ base64: "AAAA", mediaType: "text/html" }))).toEqual([
      "content.0 must_have_the_media_type_of_an_image as image/png"
    ])
  })
})

describe("checking a session", () => {
  const session = (more: object) => findings(Validate.session({ status: "idle", thread: { messages: [] }, ...more }))

  test.each(["idle", "completed", "cancelled"])("%s needs nothing", (status) => {
    expect(session({ status })).toBeUndefined()
  })

  test("each other status needs what it is about", () => {
    expect(session({ status: "bogus" })).toEqual(["status unknown"])
    expect(session({ status: "awaiting_user" })).toEqual(["pending_question required_for_status"])
    expect(session({ status: "awaiting_user", pendingQuestion: { question: "which?" } })).toBeUndefined()
    expect(session({ status: "awaiting_tools", pendingToolCalls: [] })).toEqual([
      "pending_tool_calls required_for_status"
    ])
    expect(session({ status: "awaiting_tools", pendingToolCalls: [{ id: "c" }] })).toBeUndefined()
    expect(session({ status: "error", metadata: {} })).toEqual(["metadata error_required_for_status"])
    expect(session({ status: "error", metadata: { error: new Error("no") } })).toBeUndefined()
    expect(session({ status: "error", lastOutcome: { error: new Error("no") } })).toBeUndefined()
  })

  test("its messages are looked at, and everything wrong is found", () => {
    const thread = { messages: [{ role: "robot", content: "x" }] }
    expect(session({ status: "bogus", thread })).toEqual(["status unknown", "thread.messages.0.role unknown"])
    expect(session({ thread: 7 })).toEqual(["thread invalid_type"])
    expect(findings(Validate.session(null as never))).toEqual(["session invalid_type"])
  })
})
