/** What the tools that run elsewhere do there. */

export const answers = (args: object): object => args

/** Never yields again. */
export const spins = (): never => {
  for (;;);
}

export const exits = (): never => process.exit(3)
