/** The header by which a node says that it did not process a request, and why. */
export const marks = {
  header: "x-troupe-refused",
  misdirected: "misdirected"
} as const
