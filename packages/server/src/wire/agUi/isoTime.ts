/** Formats times; does not read a clock. */

/** Milliseconds since the epoch in the form of ISO 8601. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
