/** The options of stores, and their check. */
export { checkedOptions } from "./storeOptions.ts"
