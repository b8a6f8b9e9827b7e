/** The agent of a stored conversation. */
import * as z from "zod"

/** The name of an agent, and the version of the definition that it last had. */
export const AgentRef = z.object({ name: z.string(), version: z.string() }).readonly()

export type AgentRef = z.infer<typeof AgentRef>
