/**
 * Results that are kept as long as the process lives.
 *
 * @module
 */

/** A function that reads each key once. The keys are texts, so equal texts share a result. */
export const memoOf = <Result>(read: (key: string) => Result): ((key: string) => Result) => {
  const results = new Map<string, Result>()
  return (key) => {
    const result = results.get(key) ?? read(key)
    results.set(key, result)
    return result
  }
}
