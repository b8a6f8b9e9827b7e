/** What waits for a person: of one conversation, and of all. */
export { Approvals } from "./Approvals.tsx"
export { Waiting } from "./Waiting.tsx"
