/** A time as text: nothing here asks what time it is. */

/** Milliseconds since the epoch in the form of ISO 8601. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
