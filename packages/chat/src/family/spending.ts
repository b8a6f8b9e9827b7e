/**
 * What the sub-agents of chats spend, and whose budget that uses up.
 *
 * Owns: the usage of children whose calls ended in a running step, and what children spent for former chains. Does not own the usage of
 * chats, which their charts have.
 *
 * SUB7. The usage of a child counts for its parent once at every moment: for the budget of the parent's turn at once, and for the parent's usage when
 *       the step of the call ends. The usage before a wait is counted with the wait. What a child in the background has spent when its
 *       parent begins a new chain is in the parent's usage, and does not count for the new chain.
 * SUB8. Before each request of a chat its own budget and that of every chat above must have something left. All children of a chat share
 *       that rest, so each of those that run at the same time overspends it by at most one request. A child in the background counts
 *       alike, also while no turn of its parent runs: then for the chain of the parent. So does a request that a call sends itself.
 */
import * as Usage from "../model/Usage.ts"
import type { FamilySpending } from "../options/index.ts"
import { budgetSpent, carried, type Terminal } from "../step/index.ts"
import { original } from "../values/index.ts"
import type { FamilyChat } from "./familyChat.ts"
import type { TreeLimits } from "./treeLimits.ts"

/** The chats whose spending is counted. */
export interface SpendingHome {
  readonly tree: TreeLimits
  readonly living: (id: string) => FamilyChat | undefined
  /** The children that run, and whose call has not ended, with their parents. */
  readonly runs: () => ReadonlyArray<readonly [child: string, run: { readonly parent: string }]>
  readonly isRun: (child: string) => boolean
  readonly accountOf: (child: string) => Account | undefined
}

/** The key of the run of a child (that of its call, unless a task goes on after a wait), and what its parent does not count for its chain. */
export interface Account {
  readonly key: string
  /** The usage that it counted before: for earlier calls of the child, and when the child waited. */
  counted: Usage.Usage
  /** What the child has spent for former chains. */
  former: Usage.Usage
}

/** The usage of a child whose call has ended. */
interface Ended {
  /** For the chain of the parent, and for former ones. */
  readonly usage: Usage.Usage
  readonly former: Usage.Usage
  /** Whether the work of the call went on as a background task: a process of the chat that starts does not run it again. */
  readonly isTask: boolean
}

export class Spending {
  readonly #home: SpendingHome
  /** By the id of the parent, and the key of the call: a child can have several calls. */
  readonly #ended = new Map<string, Map<string, Ended>>()
  /** By the id of the parent. */
  readonly #former = new Map<string, Usage.Usage>()

  constructor(home: SpendingHome) {
    this.#home = home
  }

  /** What a chat spends, for its steps. */
  of(id: string): FamilySpending {
    return {
      spent: (key) => this.#endedWith(id, key),
      sends: () => this.#home.tree.sends(id),
      take: () => {
        const ended = this.#ended.get(id)
        if (ended === undefined) return undefined
        this.#ended.delete(id)
        const former = sumOf(ended, "former")
        if (former !== Usage.empty) this.#former.set(id, Usage.add(this.#former.get(id) ?? Usage.empty, former))
        return sumOf(ended, "usage")
      },
      takeFormer: () => {
        const former = this.#former.get(id)
        this.#former.delete(id)
        return former
      },
      below: () => (this.#ended.has(id) || this.#childrenOf(id).length > 0 ? this.#spentBelow(id) : undefined),
      chainBegan: (turn) => this.#chainBegan(id, turn),
      exhausted: (more) => (this.#home.tree.spent(id) ?? this.#overspent(id, more))?.reason,
      overspent: (more) => this.overspent(id, more)
    }
  }

  /** A call of the parent has ended; a run before of the same call counts no more. */
  childEnded(
    { parent, key, isTask }: { readonly parent: string; readonly key: string; readonly isTask: boolean },
    child: string,
    usage: Usage.Usage
  ): void {
    const all = this.#ended.get(parent) ?? new Map<string, Ended>()
    const { counted = Usage.empty, former = Usage.empty } = this.#home.accountOf(child) ?? {}
    const total = minus(usage, counted)
    const known = least(former, total)
    this.#ended.set(parent, all.set(key, { isTask, usage: minus(total, known), former: known }))
  }

  /**
   * The call of a child is over, and no step of the child has counted what these tasks of it spent: a budget or a cancel stopped it before, or
   * it waits for a person. Its parent counts that.
   */
  passUp(child: string, parent: string): void {
    const own = this.#ended.get(child)
    const all = this.#ended.get(parent) ?? new Map<string, Ended>()
    for (const [key, ended] of own ?? []) {
      if (!ended.isTask) continue
      own?.delete(key)
      this.#ended.set(parent, all.set(`${child} ${key}`, ended))
    }
    if (own?.size === 0) this.#ended.delete(child)
  }

  /** The children that run for a chat, or for one below it whose own call has ended: its tasks can go on without one (SUB21). */
  #childrenOf(id: string): ReadonlyArray<string> {
    return this.#home.runs().flatMap(([child, { parent }]) => (this.#isWithin(parent, id) ? [child] : []))
  }

  /** Whether a chat is this one, or is below it, and no call runs it or a chat between. */
  #isWithin(chat: string, id: string): boolean {
    if (chat === id || this.#home.isRun(chat)) return chat === id
    const above = this.#home.living(chat)?.context?.record.parent?.chat
    return above !== undefined && this.#isWithin(above, id)
  }

  /** What the children of the chat have spent so far is of its former chain. */
  #chainBegan(id: string, turn: string): undefined {
    this.#home.tree.chainBegan(id, turn)
    for (const [key, ended] of this.#ended.get(id) ?? []) {
      const former = Usage.add(ended.former, ended.usage)
      this.#ended.get(id)?.set(key, { ...ended, former, usage: Usage.empty })
    }
    for (const child of this.#childrenOf(id)) {
      const account = this.#home.accountOf(child)
      if (account !== undefined) account.former = Usage.add(account.former, this.#spentBy(child))
    }
  }

  #endedWith(id: string, keyOf: () => string): Usage.Usage | undefined {
    return this.#ended.get(id)?.get(keyOf())?.usage
  }

  /** The process of a chat starts from its record, which has what it has spent. What its tasks spent is counted with its next step. */
  began(id: string): void {
    const left = Array.from(this.#ended.get(id) ?? []).filter(([, { isTask }]) => isTask)
    this.#ended.delete(id)
    this.#former.delete(id)
    if (left.length > 0) this.#ended.set(id, new Map(left))
  }

  /** Why a chat may send no more requests (SUB8, SUB14). */
  overspent(id: string, more?: Usage.Usage): Terminal | undefined {
    return this.#home.tree.spent(id) ?? this.#above(id, more)
  }

  #above(id: string, more?: Usage.Usage): Terminal | undefined {
    const above = this.#home.living(id)?.context?.record.parent?.chat
    return above === undefined ? undefined : this.#overspent(above, more)
  }

  #overspent(id: string, more: Usage.Usage = Usage.empty): Terminal | undefined {
    const chat = this.#home.living(id)
    if (chat === undefined) return undefined
    const { budget, context, stepUsage } = chat
    // At rest, the chain has what the steps of the last turn used.
    const steps = context?.turn === undefined ? [] : context.steps.map(original)
    const running = { response: { usage: stepUsage }, childUsage: Usage.add(this.#spentBelow(id), more) }
    const used = [...carried(context?.record.chain), ...steps, running]
    const spent = budget === undefined ? undefined : budgetSpent(budget, used)
    return spent === undefined ? this.#above(id, more) : { ...spent, metadata: { ...spent.metadata, chat: id } }
  }

  /** What the children of the running step have spent so far. A child whose call runs again has its former usage in its chat. */
  #spentBelow(id: string): Usage.Usage {
    const running = this.#childrenOf(id)
    const keys = new Set(running.map((child) => this.#home.accountOf(child)?.key))
    const all = Array.from(this.#ended).flatMap(([chat, calls]) => (this.#isWithin(chat, id) ? Array.from(calls) : []))
    const ended = all.filter(([key]) => !keys.has(key))
    return [...ended.map(([, { usage }]) => usage), ...running.map((child) => this.#spentBy(child))].reduce(
      Usage.add,
      Usage.empty
    )
  }

  /** What a running child has spent so far for the chain of its parent, with the children below it. */
  #spentBy(child: string): Usage.Usage {
    const chat = this.#home.living(child)
    const own = Usage.add(chat?.context?.record.usage ?? Usage.empty, chat?.stepUsage ?? Usage.empty)
    const { counted = Usage.empty, former = Usage.empty } = this.#home.accountOf(child) ?? {}
    return minus(Usage.add(minus(own, counted), this.#spentBelow(child)), former)
  }
}

const sumOf = (ended: ReadonlyMap<string, Ended>, part: "usage" | "former"): Usage.Usage =>
  Array.from(ended.values(), (one) => one[part]).reduce(Usage.add, Usage.empty)

/** The smaller of each count of two usages: a request that was cut off may count less than it did while it ran. */
const least = (one: Usage.Usage, other: Usage.Usage): Usage.Usage => {
  const counts = Object.entries(other).flatMap(([name, count]) =>
    typeof count === "number" && name in one ? [[name, Math.min(count, Number(one[name as keyof Usage.Usage]))]] : []
  )
  return counts.length === 0 ? Usage.empty : Object.fromEntries(counts)
}

/** The usage without a part that was counted before. */
const minus = (usage: Usage.Usage, counted: Usage.Usage): Usage.Usage => {
  const less = Object.entries(counted).flatMap(([name, count]) => (typeof count === "number" ? [[name, -count]] : []))
  return Usage.add(usage, Object.fromEntries(less))
}
