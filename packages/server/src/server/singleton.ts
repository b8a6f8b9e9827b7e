/** One value of a program, whichever copy of a module asks for it. */

const values = Symbol.for("@troupe/server/singleton")

/**
 * Returns the value of this name, which `make` makes once in a program.
 *
 * **When to use**: in a program whose development server loads a changed module again (Next.js, Vite). Without it, each load
 * starts another Troupe, and a conversation has two processes.
 *
 * **Details**: a promise is one value: a Troupe that starts is started once. A promise that rejects is forgotten, so the next
 * call makes another.
 *
 * **Gotchas**: a changed `make` takes effect when the program starts again.
 *
 * @example
 * ```ts import.meta.vitest
 * import { singleton } from "@troupe/server"
 *
 * let starts = 0
 * const first = singleton("doc.example", () => (starts += 1))
 * const second = singleton("doc.example", () => (starts += 1))
 * first + second // => 2
 * starts // => 1
 * ```
 */
export const singleton = <A>(name: string, make: () => A): A => {
  const all = known()
  if (all.has(name)) return all.get(name) as A
  const value = make()
  all.set(name, value)
  if (value instanceof Promise) {
    value.catch(() => {
      if (all.get(name) === value) all.delete(name)
    })
  }
  return value
}

const known = (): Map<string, unknown> => {
  const found: unknown = Reflect.get(globalThis, values)
  if (found instanceof Map) return found as Map<string, unknown>
  const made = new Map<string, unknown>()
  Reflect.set(globalThis, values, made)
  return made
}
