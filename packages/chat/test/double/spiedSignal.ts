/** A real abort signal that counts who listens to it. */
export interface SpiedSignal {
  readonly signal: AbortSignal
  readonly abort: () => void
  /** Listeners added and not removed. */
  readonly listeners: number
}

export const spiedSignal = (): SpiedSignal => {
  const controller = new AbortController()
  const { signal } = controller
  const listening = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof add>) => {
      listening.add(args[1])
      add(...args)
    },
    removeEventListener: (...args: Parameters<typeof remove>) => {
      listening.delete(args[1])
      remove(...args)
    }
  })
  return {
    signal,
    abort: () => controller.abort(),
    get listeners() {
      return listening.size
    }
  }
}
