/** The queue of `@troupe/otp`, under the name that the rooms of this package use. */
import { Channel } from "@troupe/otp"

export const Fifo = Channel.Fifo
export type Fifo<A> = Channel.Fifo<A>
