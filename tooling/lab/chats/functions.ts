/** The functions of the isolated tools. */

export const answers = (args: object): object => args

/** Loops forever without yielding. */
export const spins = (): never => {
  for (;;);
}

export const exits = (): never => process.exit(3)
