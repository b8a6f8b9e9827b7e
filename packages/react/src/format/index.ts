/** Numbers, times and values as short texts. */
export {
  age,
  bytes,
  compact,
  count,
  dayAndTime,
  duration,
  errorText,
  json,
  mark,
  money,
  nameOfAgent,
  plural,
  timeOfDay,
  words
} from "./format.ts"
