import { Writable } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { makeScreen } from "../../src/output/screen.ts"

/** A terminal's output that keeps what was written to it. */
const makeOutput = () => {
  let written = ""
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written += chunk.toString()
      done()
    }
  })
  Object.assign(stream, { columns: 60, rows: 20 })
  return {
    stream,
    take: (): string => {
      const taken = stripVTControlCharacters(written)
      written = ""
      return taken
    }
  }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe("the screen", () => {
  test("SCR1 draws its live lines anew for each frame, from begin to end and not after", () => {
    const output = makeOutput()
    const screen = makeScreen(output.stream)
    let frame = 0
    screen.begin(() => [`frame ${++frame}`])
    expect(output.take()).toBe("frame 1\n")
    vi.advanceTimersByTime(80)
    expect(output.take()).toContain("2")
    screen.end()
    output.take()
    expect(vi.getTimerCount()).toBe(0)
    expect(output.take()).toBe("")
  })

  test("SCR2 a whole line of streamed text is shown once, an unfinished one stays live", () => {
    const output = makeOutput()
    const screen = makeScreen(output.stream)
    screen.begin(() => ["live"])
    output.take()
    screen.text("first ")
    expect(output.take()).toContain("first")
    screen.text("line\nsecond")
    expect(output.take()).toContain("first line\n")
    screen.text(" half\n")
    const later = output.take()
    expect(later).toContain("second half\n")
    expect(later).not.toContain("first")
    screen.end()
  })

  test("a line interrupts streamed text on a line of its own", () => {
    const output = makeOutput()
    const screen = makeScreen(output.stream)
    screen.text("half")
    screen.line("a notice")
    expect(output.take()).toBe("half\na notice\n")
  })

  test("a note goes above unfinished text, which goes on below it", () => {
    const output = makeOutput()
    const screen = makeScreen(output.stream)
    screen.begin(() => ["live"])
    screen.text("half")
    output.take()
    screen.note("a notice")
    screen.text(" done\n")
    expect(output.take()).toMatch(/^a notice\nhalf\nlive\nhalf done\n/)
    screen.end()
  })

  test("an empty line stays", () => {
    const output = makeOutput()
    const screen = makeScreen(output.stream)
    screen.begin(() => [])
    screen.text("one\n\ntwo\n")
    expect(output.take()).toContain("one\n\ntwo\n")
    screen.end()
  })

  test("a long line breaks between words and keeps its indentation", () => {
    const output = makeOutput()
    const screen = makeScreen(output.stream)
    screen.line(`  ${"word ".repeat(20)}`)
    expect(output.take()).toBe(`  ${"word ".repeat(11).trim()}\n${"word ".repeat(9).trim()}\n`)
  })

  test("what is unfinished at the end is shown", () => {
    const output = makeOutput()
    const screen = makeScreen(output.stream)
    screen.begin(() => [])
    screen.text("half")
    output.take()
    screen.end()
    expect(output.take()).toMatch(/half\n$/)
  })
})
