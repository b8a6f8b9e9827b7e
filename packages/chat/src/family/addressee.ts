/**
 * The agents that a chat may address, by the names that its model uses.
 *
 * TELL4. A model addresses `"parent"`, an agent that its chat began, or one that its parent began, by its id, or by its name if only one
 *        has that name. Which of these it may address is the `to` of its tool. Any other name is refused, with the names that there are.
 * TEAM2. With `team` in its `to`, a tool also addresses the leader and the members of the team of its chat, by name, before their first
 *        message too. A message for `team`, or for a group, is one message for each of its agents but the sender, with a receipt of each.
 */
import { type FamilyChat, memberId } from "./familyChat.ts"
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
    | "too_many_messages"
  readonly message: string
}

export const isRefusal = (value: object): value is Refusal => "refused" in value

export const isGroup = (value: Addressee | ReadonlyArray<Addressee> | Refusal): value is ReadonlyArray<Addressee> =>
  Array.isArray(value)

/** The team of a chat: the one that it leads, else the one that it is a member of. */
export const teamOf = (from: FamilyChat, parent: FamilyChat | undefined): FamilyChat | undefined =>
  from.team !== undefined ? from : parent !== undefined && isMember(parent, from.id) ? parent : undefined

const isMember = ({ id, team }: FamilyChat, chat: string): boolean =>
  team?.members.some((member) => memberId(id, member) === chat) === true

/** The chat that a model means, or those of a group, or why it has none. */
export const addresseeOf = (
  from: FamilyChat,
  living: (id: string) => FamilyChat | undefined,
  { to, allowed }: { readonly to: string; readonly allowed: ReadonlyArray<string> }
): Addressee | ReadonlyArray<Addressee> | Refusal => {
  const above = from.context?.record.parent?.chat
  const parent = above === undefined ? undefined : living(above)
  const toTeam = allowed.includes("team")
  if (to === "parent") {
    const permits = allowed.includes("parent") || (toTeam && parent !== undefined && isMember(parent, from.id))
    if (!permits) return refusal("not_allowed", "this tool sends nothing to the parent")
    return above === undefined
      ? refusal("unknown_agent", "this chat has no parent: a person began it")
      : { chat: above, owner: undefined }
  }
  const group = toTeam ? groupOf(teamOf(from, parent), from.id, to) : undefined
  if (group !== undefined) return group
  const known = [...knownTo(from, from.id, "children", allowed), ...knownTo(parent, from.id, "siblings", allowed)]
  const found = known.filter(({ chat }) => agentIn(chat) === to || withShortId([chat], to).length > 0)
  const isOnly = ({ isMember: one }: Known): boolean =>
    found.length === 1 || (one && agentIn(found[0]?.chat ?? "") === to)
  const first = found.find((one) => one.isAllowed && isOnly(one))
  if (first !== undefined) return first
  if (found.some(({ isAllowed }) => isAllowed)) {
    return refusal("ambiguous_name", `several agents are called ${to}: ${listOf(found)}; write the id of one`)
  }
  if (found.length > 0) return refusal("not_allowed", `this tool sends nothing to ${to}`)
  const list = listOf(known.filter(({ isAllowed }) => isAllowed))
  return refusal(
    "unknown_agent",
    `there is no agent ${to}; ${list === "" ? "this chat knows none" : `there are ${list}`}`
  )
}

/** The chats of a group of the team, without the one that sends. */
const groupOf = (leader: FamilyChat | undefined, self: string, name: string): ReadonlyArray<Addressee> | undefined => {
  const { members = [], groups = {} } = leader?.team ?? {}
  const named = name === "team" ? members : Object.hasOwn(groups, name) ? groups[name] : undefined
  if (leader === undefined || named === undefined) return undefined
  const chats = named.map((member): Addressee => ({ chat: memberId(leader.id, member), owner: leader.id }))
  return [...(name === "team" ? [{ chat: leader.id, owner: undefined }] : []), ...chats].filter(
    ({ chat }) => chat !== self
  )
}

interface Known extends Addressee {
  readonly isAllowed: boolean
  readonly isMember: boolean
}

const knownTo = (
  owner: FamilyChat | undefined,
  self: string,
  kind: "children" | "siblings",
  allowed: ReadonlyArray<string>
): ReadonlyArray<Known> => {
  if (owner === undefined) return []
  const members = (owner.team?.members ?? []).map((member) => memberId(owner.id, member))
  const inTeam = owner.id === self || members.includes(self)
  const all = new Set([...(owner.context?.record.children ?? []), ...members])
  all.delete(self)
  return Array.from(all, (chat) => {
    const isOfTeam = members.includes(chat)
    const isAllowed =
      allowed.includes(kind) || allowed.includes(agentIn(chat)) || (isOfTeam && inTeam && allowed.includes("team"))
    return { chat, owner: owner.id, isAllowed, isMember: isOfTeam }
  })
}

/** How many agents a refusal lists. */
const mostListed = 8

const listOf = (known: ReadonlyArray<Addressee>): string =>
  known
    .slice(-mostListed)
    .map(({ chat }) => shortIdOf(chat, agentIn(chat)))
    .join(", ")

export const refusal = (refused: Refusal["refused"], message: string): Refusal => ({ refused, message })
