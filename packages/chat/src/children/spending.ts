/**
 * What the sub-agents of chats spend, and whose budget that uses up.
 *
 * Owns: the usage of children whose calls ended in a running step. Does not own the usage of chats, which their charts have.
 *
 * SUB7. The usage of a child counts for its parent once: for the budget of the parent's turn at once, and for the parent's usage when
 *       the step of the call ends. The usage before a wait is counted with the wait.
 * SUB8. Before each request of a child the budget of every chat above must have something left. All children of a chat share that
 *       rest, so each of those that run at the same time overspends it by at most one request. A child in the background counts alike,
 *       also while no turn of its parent runs: then for the chain of the parent.
 */
import * as Usage from "../model/Usage.ts"
import type { FamilySpending } from "../options/index.ts"
import { budgetSpent, carried, type Terminal } from "../stopConditions/index.ts"
import { original } from "../values/index.ts"
import type { FamilyChat } from "./familyChat.ts"
import type { TreeLimits } from "./treeLimits.ts"

/** The chats whose spending is counted. */
export interface SpendingHome {
  readonly tree: TreeLimits
  readonly living: (id: string) => FamilyChat | undefined
  /** The ids of the children that run for a chat. */
  readonly childrenOf: (id: string) => ReadonlyArray<string>
  /** The usage of a running child that its parent counted when it waited. */
  readonly counted: (child: string) => Usage.Usage
}

/** The usage of a child whose call has ended, and the key of the call. */
interface Ended {
  readonly key: string
  readonly usage: Usage.Usage
  /** Whether the work of the call went on as a background task: a process of the chat that starts does not run it again. */
  readonly isTask: boolean
}

export class Spending {
  readonly #home: SpendingHome
  /** By the id of the parent, and of the child. */
  readonly #ended = new Map<string, Map<string, Ended>>()

  constructor(home: SpendingHome) {
    this.#home = home
  }

  /** What a chat spends, for its steps. */
  of(id: string): FamilySpending {
    return {
      spent: (key) => this.#endedWith(id, key),
      take: (requests) => {
        this.#home.tree.sent(id, requests)
        const taken = this.#ended.has(id) ? this.#endedOf(id) : undefined
        this.#ended.delete(id)
        return taken
      },
      overspent: () => this.overspent(id)
    }
  }

  /** A call of the parent has ended; a run before of the same call counts no more. */
  childEnded(
    { parent, key, isTask }: { readonly parent: string; readonly key: string; readonly isTask: boolean },
    child: string,
    usage: Usage.Usage
  ): void {
    const all = this.#ended.get(parent) ?? new Map<string, Ended>()
    this.#ended.set(parent, all.set(child, { key, isTask, usage: minus(usage, this.#home.counted(child)) }))
  }

  #endedWith(id: string, keyOf: () => string): Usage.Usage | undefined {
    const all = this.#ended.get(id)
    if (all === undefined) return undefined
    const key = keyOf()
    return Array.from(all.values()).find((ended) => ended.key === key)?.usage
  }

  /** The process of a chat starts from its record, which has what it has spent. What its tasks spent is counted with its next step. */
  began(id: string): void {
    const left = Array.from(this.#ended.get(id) ?? []).filter(([, { isTask }]) => isTask)
    this.#ended.delete(id)
    if (left.length > 0) this.#ended.set(id, new Map(left))
  }

  /** Why a chat may send no more requests (SUB8, SUB14). */
  overspent(id: string): Terminal | undefined {
    return this.#home.tree.spent(id) ?? this.#overspent(id)
  }

  #overspent(id: string): Terminal | undefined {
    const chat = this.#home.living(id)
    const above = chat?.context?.caller.parent?.chat
    const parent = above === undefined ? undefined : this.#home.living(above)
    if (parent === undefined) return undefined
    const { budget, context, stepUsage } = parent
    // At rest, the chain has what the steps of the last turn used.
    const steps = context?.turn === undefined ? [] : context.steps.map(original)
    const running = { response: { usage: stepUsage }, childUsage: this.#spentBelow(parent.id) }
    const used = [...carried(context?.chain), ...steps, running]
    const spent = budget === undefined ? undefined : budgetSpent(budget, used)
    if (spent === undefined) return this.#overspent(parent.id)
    return { ...spent, metadata: { ...spent.metadata, chat: parent.id } }
  }

  /** What the children of the running step have spent so far. */
  #spentBelow(id: string): Usage.Usage {
    const running = this.#home.childrenOf(id).map((child): Usage.Usage => {
      const chat = this.#home.living(child)
      const own = Usage.add(chat?.context?.usage ?? Usage.empty, chat?.stepUsage ?? Usage.empty)
      return Usage.add(minus(own, this.#home.counted(child)), this.#spentBelow(child))
    })
    return running.reduce(Usage.add, this.#endedOf(id))
  }

  #endedOf(id: string): Usage.Usage {
    return Array.from(this.#ended.get(id)?.values() ?? [], ({ usage }) => usage).reduce(Usage.add, Usage.empty)
  }
}

/** The usage without a part that was counted before. */
const minus = (usage: Usage.Usage, counted: Usage.Usage): Usage.Usage => {
  const less = Object.entries(counted).flatMap(([name, count]) => (typeof count === "number" ? [[name, -count]] : []))
  return Usage.add(usage, Object.fromEntries(less))
}
