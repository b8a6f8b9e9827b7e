/** The checks of arguments of a Troupe and of its chats, also for chats of other nodes. */
export { argumentChecks } from "./argumentChecks.ts"
export { askedAgent, checkId, checkNames, checkOwnId, refusedArgument } from "./idChecks.ts"
