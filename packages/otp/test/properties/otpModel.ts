/**
 * A small model of OTP's supervision: what is alive after a process of a tree has ended, and how often each was started.
 *
 * It has no messages and no time: an end and everything it sets off is one step.
 */
import type { Supervisor } from "../../src/index.ts"

/** A process of a tree, by plan. A worker has no `children`. */
export interface Plan {
  readonly id: string
  readonly restart: "permanent" | "transient" | "temporary"
  readonly strategy: Supervisor.Strategy
  readonly maxRestarts: number
  readonly children: ReadonlyArray<Plan> | undefined
}

/** How a process ends. */
export type End = "normal" | "shutdown" | "boom" | "killed"

interface Slot {
  readonly plan: Plan
  node: Node | undefined
}

class Node {
  readonly plan: Plan
  readonly parent: Node | undefined
  slots: Array<Slot> = []
  restarts = 0

  constructor(plan: Plan, parent: Node | undefined) {
    this.plan = plan
    this.parent = parent
  }
}

const wantsRestart = (plan: Plan, end: End): boolean =>
  plan.restart === "permanent" || (plan.restart === "transient" && end !== "normal" && end !== "shutdown")

export class OtpModel {
  readonly #root: Node
  readonly #nodes = new Map<string, Node>()
  /** How often each process was started. */
  readonly starts = new Map<string, number>()

  constructor(plan: Plan) {
    this.#root = this.#start(plan, undefined)
  }

  /** The ids of the living, sorted. */
  get living(): ReadonlyArray<string> {
    return [...this.#nodes.keys()].toSorted()
  }

  /** Ends a process by itself. */
  end(id: string, end: End): void {
    const node = this.#nodes.get(id)
    if (node === undefined) return
    this.#remove(node)
    if (node.parent !== undefined) this.#ended(node.parent, node, end)
  }

  #start(plan: Plan, parent: Node | undefined): Node {
    const node = new Node(plan, parent)
    this.#nodes.set(plan.id, node)
    this.starts.set(plan.id, (this.starts.get(plan.id) ?? 0) + 1)
    node.slots = (plan.children ?? []).map((child) => ({ plan: child, node: this.#start(child, node) }))
    return node
  }

  #remove(node: Node): void {
    this.#nodes.delete(node.plan.id)
    for (const slot of node.slots) if (slot.node !== undefined) this.#remove(slot.node)
  }

  #ended(supervisor: Node, child: Node, end: End): void {
    const slot = supervisor.slots.find((one) => one.node === child)
    if (slot === undefined) return
    slot.node = undefined
    if (!wantsRestart(slot.plan, end)) {
      if (slot.plan.restart === "temporary") supervisor.slots.splice(supervisor.slots.indexOf(slot), 1)
      return
    }
    supervisor.restarts++
    if (supervisor.restarts > supervisor.plan.maxRestarts) this.end(supervisor.plan.id, "shutdown")
    else this.#restart(supervisor, slot)
  }

  #restart(supervisor: Node, slot: Slot): void {
    const { strategy } = supervisor.plan
    const first = supervisor.slots.indexOf(slot)
    const group = strategy === "oneForOne" ? [slot] : supervisor.slots.slice(strategy === "oneForAll" ? 0 : first)
    for (const other of group) {
      if (other.node !== undefined) this.#remove(other.node)
      other.node = undefined
      if (other !== slot && other.plan.restart === "temporary")
        supervisor.slots.splice(supervisor.slots.indexOf(other), 1)
    }
    for (const other of group) {
      if (supervisor.slots.includes(other)) other.node = this.#start(other.plan, supervisor)
    }
  }

  /** Whether anything lives. */
  get alive(): boolean {
    return this.#nodes.get(this.#root.plan.id) === this.#root
  }
}
