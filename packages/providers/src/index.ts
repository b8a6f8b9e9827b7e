/** Adapters for any AI SDK provider model. */
export { aiSdk, type AiSdkModel, type AiSdkOptions } from "./aiSdk/AiSdk.ts"
