/** The reason of a finding about an agent that there is not. */
import { closestName, unknownName } from "../errors/index.ts"

/** The reason of a finding about an agent that there is not. */
export const unknownAgent = (name: string, agentNames: Iterable<string>): string => {
  const all = Array.from(agentNames)
  return all.length === 0 ? "unknown; the Troupe has no agents" : unknownName(name, shortList(name, all))
}

/** A finding lists few names only. */
const shortList = (name: string, all: ReadonlyArray<string>): ReadonlyArray<string> =>
  all.length <= fewNames || closestName(name, all) !== undefined ? all : [...all.slice(0, fewNames), "…"]

const fewNames = 10
