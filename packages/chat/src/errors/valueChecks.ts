/** Type guards for unknown values. */

export const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

export const isRecord = (value: unknown): value is Record<string, unknown> => isObject(value) && !Array.isArray(value)
