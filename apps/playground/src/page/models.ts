/** The models that the server of the page offers. */
import type { ModelChoice } from "@troupe/react/ui"
import { useEffect, useState } from "react"

const load = async (): Promise<ReadonlyArray<ModelChoice>> => {
  const response = await fetch("/models.json")
  return response.ok ? ((await response.json()) as ReadonlyArray<ModelChoice>) : []
}

let loaded: Promise<ReadonlyArray<ModelChoice>> | undefined

const none: ReadonlyArray<ModelChoice> = []

/** The models, requested once for the page; none until then, and none when the server has no choice. */
export const useModels = (): ReadonlyArray<ModelChoice> => {
  const [models, setModels] = useState(none)
  useEffect(() => {
    let isOver = false
    loaded ??= load().catch(() => none)
    void loaded.then((found) => (isOver ? undefined : setModels(found)))
    return () => {
      isOver = true
    }
  }, [])
  return models
}
