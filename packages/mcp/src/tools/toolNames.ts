/**
 * The names of a server's tools as models accept them.
 *
 * MCPN1. A name that models accept stays as it is. In any other name, each wrong character becomes `_`; a reserved word begins with
 *        `tool_`; more than 64 characters are shortened to 55, `_` and a hash of the server's name.
 * MCPN2. When changed names would be equal to another name of the server, they end with `_` and the hash. The hash depends only on the
 *        name of the tool, so a name stays the same whatever the order of the list.
 */
import { Tool } from "@troupe/chat/tools"

const longest = 64

/** The accepted names, by the names of the server, each of them once. */
export const acceptedNames = (names: ReadonlyArray<string>, prefix = ""): ReadonlyMap<string, string> => {
  const own = new Map(names.map((name) => [name, acceptedName(prefix + name)]))
  const uses = new Map<string, number>()
  for (const name of own.values()) uses.set(name, (uses.get(name) ?? 0) + 1)
  for (const [name, accepted] of own) {
    if (accepted !== prefix + name && (uses.get(accepted) ?? 0) > 1) own.set(name, withHash(accepted, name))
  }
  return own
}

/** The name of a tool (MCPN1). */
export const acceptedName = (requested: string): string => {
  const plain = requested.replaceAll(/[^A-Za-z0-9_-]/g, "_")
  const base = plain !== "" && Tool.nameProblem(plain.slice(0, longest)) === undefined ? plain : `tool_${plain}`
  return base.length <= longest ? base : withHash(base, requested)
}

const withHash = (name: string, requested: string): string => `${name.slice(0, longest - 9)}_${hashOf(requested)}`

/** The 32-bit FNV-1a hash of a text, as eight hexadecimal digits. */
const hashOf = (text: string): string => {
  let hash = 0x81_1c_9d_c5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01_00_01_93)
  return (hash >>> 0).toString(16).padStart(8, "0")
}
