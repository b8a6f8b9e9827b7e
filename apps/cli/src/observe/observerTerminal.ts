/**
 * The observer in a terminal.
 *
 * **Owns** the terminal's alternate screen, the selection, and the watched values. Does not own the link or the system
 * behind it.
 *
 * - OBST1. Only the nodes, the tree of the observed one, the selected process and the timeline of its chat are watched.
 * - OBST2. A kill requires a confirmation, which applies to the process and the node in the question, whatever is selected by
 *   then.
 * - OBST3. Every exit (`q`, Ctrl-C, a signal, a refusal) restores the terminal and ends all watches.
 *
 * @module
 */
import { emitKeypressEvents } from "node:readline"
import type { ObserverLink, Watched } from "@troupe/server/ChatLink"
import { type Chosen, chosenRow, rowsOf } from "./observedRows.ts"
import { NodeChoice } from "./nodeChoice.ts"
import { observerLines } from "./observerView.ts"
import type { Paint, TerminalOutput } from "../output/index.ts"

/** The source of keys. */
export type KeyInput = NodeJS.ReadableStream & { readonly setRawMode?: (raw: boolean) => unknown }

/** The environment of the terminal observer. */
export interface ObserverSurroundings {
  readonly observer: ObserverLink
  readonly url: string
  readonly input: KeyInput
  readonly output: TerminalOutput
  readonly paint: Paint
  /** Ends it early. */
  readonly signal: AbortSignal
}

interface Key {
  readonly name?: string | undefined
  readonly ctrl?: boolean | undefined
}

const enter = "\u001b[?1049h\u001b[?25l"
const leaveScreen = "\u001b[?25h\u001b[?1049l"

/** Shows the observer until the user quits. */
export const runObserver = ({ observer, url, input, output, paint, signal }: ObserverSurroundings): Promise<void> =>
  new Promise((resolve) => {
    let chosen: Chosen | undefined
    let asked:
      | { readonly id: string; readonly label: string; readonly where: string; readonly at: ObserverLink }
      | undefined
    let said: string | undefined
    let drawing = false
    let over = false
    const choice = new NodeChoice(observer, () => draw())
    const tree = new Slot(
      () => choice.at.tree,
      () => draw()
    )
    const process = new Slot(
      (id) => choice.at.process(id),
      () => draw()
    )
    const timeline = new Slot(
      (id) => choice.at.timeline(id),
      () => draw()
    )

    const scene = () => {
      tree.watch(choice.chosen ?? "")
      const observed = tree.state
      choice.reached(observed?.node)
      const rows = rowsOf(observed?.tree ?? [])
      const at = chosenRow(rows, chosen)
      const row = rows[at]
      if (row !== undefined) chosen = { id: row.node.id, path: row.path }
      process.watch(row?.node.id)
      timeline.watch(row?.node.chat)
      const error = tree.error
      const question =
        asked === undefined
          ? undefined
          : `Kill ${asked.label} ${asked.id}${asked.where}? y kills, any other key does not`
      return {
        url,
        nodes: choice.nodes,
        node: choice.node,
        observed,
        rows,
        chosen: at,
        detail: process.state,
        timeline: timeline.state,
        notice: question ?? said ?? (error === undefined ? undefined : error.message)
      }
    }

    const draw = (): void => {
      if (over || drawing) return
      drawing = true
      const size = { rows: output.rows ?? 24, columns: output.columns ?? 80 }
      const lines = observerLines(scene(), size, paint)
      drawing = false
      output.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`)
    }

    const move = (by: number): void => {
      const { rows, chosen: at } = scene()
      const row = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
      if (row !== undefined) chosen = { id: row.node.id, path: row.path }
    }

    const kill = ({ id, at }: { readonly id: string; readonly at: ObserverLink }): void => {
      at.kill(id).catch((error: unknown) => {
        said = error instanceof Error ? error.message : String(error)
        draw()
      })
    }

    const moves: Readonly<Record<string, number>> = {
      up: -1,
      down: 1,
      pageup: -10,
      pagedown: 10,
      home: Number.NEGATIVE_INFINITY,
      end: Number.POSITIVE_INFINITY
    }

    const stepNode = (by: 1 | -1): void => {
      choice.step(by)
      chosen = undefined
      for (const slot of [process, timeline]) slot.watch(undefined)
    }

    const pressed = (_text: string | undefined, { name = "", ctrl = false }: Key): void => {
      said = undefined
      if (name === "q" || (ctrl && (name === "c" || name === "d"))) return leave()
      if (asked !== undefined) {
        if (name === "y") kill(asked)
        asked = undefined
      } else if (name === "k") {
        const { rows, chosen: index } = scene()
        const { node } = rows[index] ?? {}
        const where = choice.nodes.length > 1 ? ` at ${choice.node ?? ""}` : ""
        asked = node && { id: node.id, label: node.label, where, at: choice.at }
      } else if (name === "left" || name === "right") stepNode(name === "left" ? -1 : 1)
      else move(moves[name] ?? 0)
      draw()
    }

    const leave = (): void => {
      if (over) return
      over = true
      choice.leave()
      tree.watch(undefined)
      process.watch(undefined)
      timeline.watch(undefined)
      signal.removeEventListener("abort", leave)
      output.off("resize", draw)
      input.off("keypress", pressed)
      input.off("end", leave)
      input.setRawMode?.(false)
      input.pause()
      output.write(leaveScreen)
      resolve()
    }

    output.write(enter)
    emitKeypressEvents(input)
    input.setRawMode?.(true)
    input.on("keypress", pressed)
    input.on("end", leave)
    input.resume()
    output.on("resize", draw)
    signal.addEventListener("abort", leave, { once: true })
    if (signal.aborted) leave()
    else draw()
  })

/** A watch of one kind, for one value at a time. */
class Slot<A> {
  readonly #find: (id: string) => Watched<A>
  readonly #changed: () => void
  #id: string | undefined
  #watched: Watched<A> | undefined
  #leave = (): void => {}

  constructor(find: (id: string) => Watched<A>, changed: () => void) {
    this.#find = find
    this.#changed = changed
  }

  get state(): A | undefined {
    return this.#watched?.getState()
  }

  get error(): Error | undefined {
    return this.#watched?.getError?.()
  }

  watch(id: string | undefined): void {
    if (id === this.#id) return
    this.#leave()
    this.#id = id
    this.#watched = id === undefined ? undefined : this.#find(id)
    this.#leave = this.#watched?.subscribe(this.#changed) ?? (() => {})
  }
}
