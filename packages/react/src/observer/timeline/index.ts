/** The timeline of a turn, its usage and its cost. */
export type { Prices } from "./cost.ts"
export { TurnTimeline } from "./turnTimeline.tsx"
export type { TurnTimelineProps } from "./turnTimeline.tsx"
export { UsageMeters } from "./usageMeters.tsx"
export type { UsageMetersProps } from "./usageMeters.tsx"
