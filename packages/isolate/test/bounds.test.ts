/** What a place may send, use and see. */
import { Telemetry } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import type { Isolation } from "../src/index.ts"
import { contents, isolate, toolOf } from "./double/running.ts"

const own = isolate()

describe.each<Isolation>(["worker", "process"])("in a %s", (place) => {
  test("ISO4 messages that are not the job's are ignored and counted, and the outcome is the function's own", async () => {
    const counts: Array<unknown> = []
    Telemetry.attach(own.system, "tool_call.message_ignored", ({ measurements, metadata }) => {
      counts.push([metadata.toolCall.name, measurements.count])
    })
    expect(contents(await own.run(toolOf(place, "sendsStrays")))).toEqual([["completed", "own"]])
    expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((count) => ["sendsStrays", count]))
  })

  test("ISO3 a result of more than maxResultBytes is encoding_failed, and says how large it was", async () => {
    const tool = toolOf(place, "returns", { maxResultBytes: 2_048 })
    expect(contents(await own.run(tool, { bytes: 1_900 }))).toEqual([["completed", "x".repeat(1_900)]])
    expect(contents(await own.run(tool, { bytes: 4_000 }))).toEqual([
      ["failed", expect.stringMatching(/encoding_failed: the result has 40\d\d bytes and maxResultBytes is 2048/)]
    ])
  })

  test("ISO3 a result of more than four MiB is refused by default", async () => {
    expect(contents(await own.run(toolOf(place, "returns"), { bytes: 4_200_000 }))).toEqual([
      ["failed", expect.stringContaining("maxResultBytes is 4194304")]
    ])
  })

  test.each([1_024, 2_048])(
    "ETEXT2 an error whose text has more than maxResultBytes %i is raised, and its text is cut",
    async (maxResultBytes) => {
      const tool = toolOf(place, "raises", { maxResultBytes })
      expect(contents(await own.run(tool, { bytes: 4_000 }))).toEqual([
        ["failed", expect.stringMatching(`handler_raised: .*[^x]x{${maxResultBytes / 4 - 1}}…`)]
      ])
    }
  )

  test.each([
    ["message", /handler_raised: .*\[object Object\]/],
    ["stack", /handler_raised: .*odd/],
    ["getter", /handler_raised: .*something that has no text/]
  ])("ETEXT1 an error with an odd %s is raised", async (how, content) => {
    const result = contents(await own.run(toolOf(place, "raisesOddly"), { how }))
    expect(result).toEqual([["failed", expect.stringMatching(content)]])
  })

  test("ISO4 a place that sends 10,000 messages that are not the job's is killed, and the call is a handler_exit", async () => {
    let count = 0
    Telemetry.attach(own.system, "tool_call.message_ignored", ({ measurements }) => (count = measurements.count))
    expect(contents(await own.run(toolOf(place, "floods"), { messages: 11_000 }))).toEqual([
      ["failed", expect.stringMatching(/handler_exit: .*sent 10000 messages that are not its own/)]
    ])
    expect(count).toBe(10_000)
  })

  test("ISO3 a progress value of more than maxResultBytes throws in the function", async () => {
    const tool = toolOf(place, "reports", { maxResultBytes: 2_048 })
    expect(contents(await own.run(tool, { bytes: 4_000 }))).toEqual([
      ["failed", expect.stringMatching(/handler_raised: .*maxResultBytes is 2048: send less/)]
    ])
  })

  test("ISO6 a heap beyond maxMemoryMb ends its place, and is a handler_exit that names the bound", async () => {
    expect(contents(await own.run(toolOf(place, "fills", { maxMemoryMb: 32 })))).toEqual([
      ["failed", expect.stringMatching(/handler_exit: .*more than maxMemoryMb, which is 32/)]
    ])
  })

  test("ISO7 the function sees PATH and no secret of this program by default, else what env says and nothing more", async () => {
    process.env["SECRET_OF_THIS_TEST"] = "s"
    const names = { names: ["PATH", "SECRET_OF_THIS_TEST", "GREETING"] }
    try {
      const byDefault = toolOf(place, "environment")
      expect(contents(await own.run(byDefault, names))).toEqual([
        ["completed", JSON.stringify([process.env["PATH"], null, null])]
      ])
      const stated = toolOf(place, "environment", { env: { GREETING: "hello" } })
      expect(contents(await own.run(stated, names))).toEqual([["completed", JSON.stringify([null, null, "hello"])]])
    } finally {
      delete process.env["SECRET_OF_THIS_TEST"]
    }
  })
})

test.each([
  ["a message that is not signed", "0400000001020304", "completed"],
  ["an empty message", "00000000", "completed"],
  ["a message beyond the bound", "ffffffff", "failed"],
  ["a piece of a length", "01", "failed"]
])("CHILD3 bytes of a child throw nowhere in this process: %s", async (_, bytes, outcome) => {
  const { messages } = await own.run(toolOf("process", "writesBytes"), { bytes })
  expect(messages.map((message) => message.outcome)).toEqual([outcome])
})
