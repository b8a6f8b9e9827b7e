/** Actions that can be refused: the refusal is shown where the action was begun. */
import { useState } from "react"
import { errorText } from "../../format/index.ts"

/** An action's refusal, and how to begin another. */
export interface Attempt {
  readonly fault: string | undefined
  /** Runs an action; resolves whether it was accepted. */
  readonly attempt: (action: () => Promise<unknown>) => Promise<boolean>
}

/** Keeps the refusal of the last action until the next one begins. */
export const useAttempt = (): Attempt => {
  const [fault, setFault] = useState<string>()
  const attempt = async (action: () => Promise<unknown>): Promise<boolean> => {
    setFault(undefined)
    try {
      await action()
      return true
    } catch (error) {
      setFault(errorText(error))
      return false
    }
  }
  return { fault, attempt }
}

/** A refusal as an alert; nothing without one. */
export const Fault = ({ fault }: Pick<Attempt, "fault">) =>
  fault === undefined ? null : (
    <p className="troupe-fault" role="alert">
      {fault}
    </p>
  )
