/**
 * A value of the user as a chart's context holds it: plain JSON data, with the value itself beside it.
 *
 * HELD1. In the program that made it, `original` returns the same value. After the data went through JSON, it returns the
 *        value that the data was written from, as far as it has a JSON form.
 * HELD2. The JSON form is made when it is read for the first time, so a chart that is not stored has no such cost.
 */
import { type Json, read, write } from "./taggedJson.ts"

/** A value of this type, held as data. */
export interface Held<in out A> {
  readonly json: Json
  readonly type?: (value: A) => A
}

/** The property of the value itself. JSON and `structuredClone` leave out properties whose keys are symbols. */
const value = Symbol("value")

/** One descriptor for all: objects with the same getter share their layout. */
const jsonProperty: PropertyDescriptor & ThisType<{ readonly [value]: unknown }> = {
  enumerable: true,
  get() {
    return jsonOf(this)
  }
}

/** Holds a value. */
export const held = <A>(given: A): Held<A> =>
  Object.defineProperty({ [value]: given }, "json", jsonProperty) as { readonly [value]: unknown } & Held<A>

/** The JSON forms that were read (HELD2). */
const written = new WeakMap<object, Json>()

const jsonOf = (data: { readonly [value]: unknown }): Json => {
  const known = written.get(data)
  if (known !== undefined) return known
  const { json } = write(data[value], true)
  written.set(data, json)
  return json
}

/** The held value (HELD1). */
export const original = <A>(data: Held<A> & { readonly [value]?: A }): A =>
  (value in data ? data[value] : read(data.json, []).value) as A
