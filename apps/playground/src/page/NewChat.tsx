import { useTroupe } from "@troupe/react"
import { Composer } from "@troupe/react/ui"
import type { ReactNode } from "react"
import { useModels } from "./models.ts"
import { hrefOf, newId } from "./place.ts"
import { Welcome } from "./Welcome.tsx"

/** A conversation that begins with its first message. Until then there is no process for it. */
export const NewChat = (): ReactNode => {
  const troupe = useTroupe()
  const models = useModels()
  const send = async (...[text, options]: Parameters<ReturnType<typeof troupe.chat>["send"]>): Promise<void> => {
    const id = newId()
    await troupe.chat(id).send(text, options)
    location.hash = hrefOf(id)
  }
  return (
    <div className="troupe-chat">
      <div className="troupe-thread">
        <Welcome onChoose={(text) => send(text)} />
      </div>
      <p className="status" role="status">
        Ready
      </p>
      <Composer chat={{ send }} models={models} />
    </div>
  )
}
