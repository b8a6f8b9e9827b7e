import * as Clock from "effect/Clock"

const clock = Clock.Clock.defaultValue()

/**
 * The time of the machine, in milliseconds since the Unix epoch. The clock of a system does not follow a correction of it, nor the
 * time of a suspended machine.
 */
export const machineTime = (): number => clock.currentTimeMillisUnsafe()
