/**
 * A value of the user as a chart's context holds it: plain JSON data, with the value itself beside it.
 *
 * HELD1. In the program that made it, `original` returns the same value. After the data went through JSON, it returns the
 *        value that the data was written from, as far as it has a JSON form.
 * HELD2. The JSON form is made when it is read for the first time, so a chart that nobody stores costs none.
 */
import { type Json, read, write } from "./taggedJson.ts"

/** A value of this type, held as data. */
export interface Held<in out A> {
  readonly json: Json
  readonly type?: (value: A) => A
}

const originals = new WeakMap<object, unknown>()

/** Holds a value. */
export const held = <A>(value: A): Held<A> => {
  let json: Json | undefined
  const data = {
    get json(): Json {
      json ??= write(value, true).json
      return json
    }
  }
  originals.set(data, value)
  return data
}

/** The held value (HELD1). */
export const original = <A>(data: Held<A>): A =>
  (originals.has(data) ? originals.get(data) : read(data.json, []).value) as A
