/**
 * The chat without a terminal: reads questions line by line, and answers them in order. Without a question it asks what the demo proposes.
 *
 * @module
 */
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { isCommand, runCommand } from "./commands.ts"
import type { DemoChat } from "./demoChat.ts"
import { proposals } from "@troupe/scripted"
import { type Display, type Paint, reportTurn, type TurnEnd } from "../output/index.ts"

/** The environment of a piped chat. */
export interface PipedSurroundings {
  readonly demo: DemoChat
  readonly input: Readable
  readonly display: Display
  readonly paint: Paint
  /** Ends it early. */
  readonly signal: AbortSignal
}

/** Answers every line of the input, and returns whether an answer failed. */
export const runPiped = async ({
  demo,
  input,
  display,
  paint,
  signal
}: PipedSurroundings): Promise<{ readonly failed: boolean }> => {
  // A line reader that is closed before its loop starts never ends the loop.
  if (signal.aborted) {
    input.destroy()
    return { failed: false }
  }
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  const stop = (): void => {
    lines.close()
    void demo.cancel()
  }
  signal.addEventListener("abort", stop, { once: true })
  let failed = false
  let isAsked = false
  const ask = async (said: string): Promise<boolean> => {
    isAsked = true
    display.line(`${paint.accent("›")} ${said}`)
    const end = await answer(said, { demo, display, paint })
    failed ||= end === "failed"
    const decision = demo.decision()
    if (decision !== undefined) display.line(`${paint.accent("?")} ${paint.strong(decision)}`)
    display.line("")
    return end !== "quit"
  }
  try {
    for await (const line of lines) {
      if (signal.aborted) break
      if (line.trim() !== "" && !(await ask(line.trim()))) break
    }
    if (isAsked || signal.aborted) return { failed }
    display.line(
      paint.quiet("Nobody asks anything here, so the demo asks for you. In a terminal you write yourself.\n")
    )
    for (const said of [...proposals.map(({ text }) => text), "Tomorrow at seven, for two"]) {
      if (signal.aborted || !(await ask(said))) break
    }
  } finally {
    signal.removeEventListener("abort", stop)
    lines.close()
    input.destroy()
  }
  return { failed }
}

const answer = async (
  said: string,
  { demo, display, paint }: Pick<PipedSurroundings, "demo" | "display" | "paint">
): Promise<TurnEnd | "quit"> => {
  const surroundings = { display, paint, elapsedMs: demo.elapsedMs, now: () => performance.now() }
  if (!isCommand(said)) return reportTurn(demo.send(said), surroundings)
  const outcome = await runCommand(said, { demo, paint, print: display.line })
  if (outcome.type === "turn") return reportTurn(outcome.turn, surroundings)
  return outcome.type === "quit" ? "quit" : "completed"
}
