/**
 * Deep copies of values that are passed to user code, so that user code cannot change the originals.
 *
 * COPY1. Plain objects and lists are copied at every depth, each exactly once, so cycles stay cycles. Other values
 *        (dates, bytes, class instances, functions) are shared with the original.
 * COPY2. A getter is read once; in the copy it is a value. If the getter throws, `copied` throws.
 */

/** A deep copy of a value (COPY1). */
export const copied = <A>(value: A): A => {
  if (!isContainer(value)) return value
  const copy = shallow(value)
  let pending: Array<Record<string, unknown>> | undefined
  let known: Map<Record<string, unknown>, Record<string, unknown>> | undefined
  for (let open: Record<string, unknown> | undefined = copy; open !== undefined; open = pending?.pop()) {
    for (const key of Object.keys(open)) {
      const inner = open[key]
      if (!isContainer(inner)) continue
      known ??= new Map([[value, copy]])
      pending ??= []
      let own = known.get(inner)
      if (own === undefined) {
        own = shallow(inner)
        known.set(inner, own)
        pending.push(own)
      }
      open[key] = own
    }
  }
  return copy as A
}

const isContainer = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== "object" || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const shallow = (value: Record<string, unknown>): Record<string, unknown> =>
  Array.isArray(value) ? (Array.from<unknown>(value) as unknown as Record<string, unknown>) : { ...value }
