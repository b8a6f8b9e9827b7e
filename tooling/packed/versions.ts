/**
 * The versions that the packed packages are checked with.
 *
 * @module
 */
import { readJson } from "../house/workspace.ts"
import type { Manifest } from "../house/workspace.ts"
import type { Versions } from "./project.ts"

/** The packages that the consumer's programs need beside ours. */
const required =
  "@types/node @types/react @types/react-dom @xstate/react effect marked react react-dom xstate zod".split(" ")

/** The version of a package in this workspace. */
export const versionOf = (name: string): string =>
  readJson<{ version: string }>(`tooling/node_modules/${name}/package.json`).version

/** The versions of this workspace. */
export const newest = (): Versions => Object.fromEntries(required.map((name) => [name, versionOf(name)]))

/** The same, but each peer at the lower end of its range. */
export const oldest = (manifests: ReadonlyArray<Manifest>): Versions => {
  const peers = manifests.flatMap((manifest) => Object.entries(manifest.peerDependencies ?? {}))
  const lower = peers.flatMap(([name, range]) => (isExact(range) ? [] : [[name, range.replace(/^\^/, "")]]))
  const versions: Versions = { ...newest(), ...Object.fromEntries(lower) }
  return { ...versions, "react-dom": versions["react"] ?? "" }
}

const isExact = (range: string): boolean => /^\d/u.test(range)

/** Whether a package can be installed beside these versions: a peer of which it needs an exact version is that one. */
export const suits = ({ peerDependencies = {} }: Manifest, versions: Versions): boolean =>
  Object.entries(peerDependencies).every(([name, range]) => !isExact(range) || versions[name] === range)

/** The oldest Node that the packages run on. */
export const oldestNode = (manifests: ReadonlyArray<Manifest>): string => {
  const [range = "", ...others] = new Set(manifests.map((manifest) => manifest.engines?.node ?? "no range"))
  const version = /^>=(\d+\.\d+)$/.exec(range)?.[1]
  if (version === undefined || others.length > 0)
    throw new Error(`every package has the same engines.node, as ">=22.19"`)
  return `${version}.0`
}
