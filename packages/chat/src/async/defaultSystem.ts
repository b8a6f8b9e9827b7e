/** The system that functional chats run in. It holds nothing while none of them runs. */
import { System } from "@troupe/otp"

let system: System.System | undefined

export const defaultSystem = (): System.System => (system ??= System.make({ name: "chats" }))
