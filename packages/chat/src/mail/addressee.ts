/**
 * The agents that a chat may address, by the names that its model uses.
 *
 * TELL4. A model addresses `"parent"`, an agent that its chat began, or one that its parent began, by its id, or by its name if only one
 *        has that name. Which of these it may address is the `to` of its tool. Any other name is refused, with the names that there are.
 */
import type { FamilyChat } from "../family/index.ts"
import { agentIn, shortIdOf, withShortId } from "../record/index.ts"

/** A chat that a message is for. `owner` is the chat whose call began it; a parent has none here. */
export interface Addressee {
  readonly chat: string
  readonly owner: string | undefined
}

/** Why a message is refused. */
export interface Refusal {
  readonly refused:
    | "unknown_agent"
    | "not_allowed"
    | "ambiguous_name"
    | "cycle"
    | "deleted"
    | "inbox_full"
    | "unreachable"
  readonly message: string
}

export const isRefusal = (value: object): value is Refusal => "refused" in value

/** The chat that a model means, or why it has none. */
export const addresseeOf = (
  from: FamilyChat,
  living: (id: string) => FamilyChat | undefined,
  { to, allowed }: { readonly to: string; readonly allowed: ReadonlyArray<string> }
): Addressee | Refusal => {
  const parent = from.context?.record.parent?.chat
  if (to === "parent") {
    if (!allowed.includes("parent")) return refusal("not_allowed", "this tool sends nothing to the parent")
    return parent === undefined
      ? refusal("unknown_agent", "this chat has no parent: a person began it")
      : { chat: parent, owner: undefined }
  }
  const known = [
    ...knownTo(from, from.id, "children", allowed),
    ...(parent === undefined ? [] : knownTo(living(parent), from.id, "siblings", allowed))
  ]
  const found = known.filter(({ chat }) => agentIn(chat) === to || withShortId([chat], to).length > 0)
  const [first] = found.filter(({ isAllowed }) => isAllowed)
  if (first !== undefined && found.length === 1) return first
  if (first !== undefined) {
    return refusal("ambiguous_name", `several agents are called ${to}: ${listOf(found)}; write the id of one`)
  }
  if (found.length > 0) return refusal("not_allowed", `this tool sends nothing to ${to}`)
  const list = listOf(known.filter(({ isAllowed }) => isAllowed))
  return refusal(
    "unknown_agent",
    `there is no agent ${to}; ${list === "" ? "this chat knows none" : `there are ${list}`}`
  )
}

interface Known extends Addressee {
  readonly isAllowed: boolean
}

const knownTo = (
  owner: FamilyChat | undefined,
  self: string,
  kind: "children" | "siblings",
  allowed: ReadonlyArray<string>
): ReadonlyArray<Known> =>
  (owner?.context?.record.children ?? []).flatMap((chat) =>
    chat === self
      ? []
      : [{ chat, owner: owner?.id, isAllowed: allowed.includes(kind) || allowed.includes(agentIn(chat)) }]
  )

/** How many agents a refusal lists. */
const mostListed = 8

const listOf = (known: ReadonlyArray<Addressee>): string =>
  known
    .slice(-mostListed)
    .map(({ chat }) => shortIdOf(chat, agentIn(chat)))
    .join(", ")

export const refusal = (refused: Refusal["refused"], message: string): Refusal => ({ refused, message })
