/** A result as values that can be compared: errors by what they say. */
export const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) =>
      inner instanceof Error
        ? { name: inner.name, message: inner.message }
        : typeof inner === "function"
          ? "function"
          : inner
    )
  )
