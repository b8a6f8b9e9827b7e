/** The system that functional chats run in, created on first use. It holds no resources while no chat runs. */
import { System } from "@troupe/otp"

let system: System.System | undefined

export const defaultSystem = (): System.System => (system ??= System.make({ name: "chats" }))
