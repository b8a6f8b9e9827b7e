declare module "virtual:examples" {
  type Check = (value: unknown, label: string) => { readonly toEqual: (expected: unknown) => void }
  /** Loads each example, by its id. */
  const examples: Readonly<
    Record<
      string,
      (() => Promise<{ readonly default: (check: Check, log: Partial<Console>) => Promise<void> }>) | undefined
    >
  >
  export default examples
}
