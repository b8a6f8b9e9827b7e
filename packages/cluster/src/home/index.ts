/** The conversations whose home this node is. */
export { HomeBuckets } from "./HomeBuckets.ts"
export { Revival } from "./revival.ts"
