/**
 * The living processes of a system, in start order.
 *
 * They form a linked list, so that the table itself uses no memory and is never resized.
 *
 * TABLE1. `size` is the number of entries. A removed process has no neighbours.
 * TABLE2. The ids increase from the oldest to the youngest.
 */
/** An entry of the table, with its neighbours. */
export interface Neighbour<Entry> {
  readonly id: number
  readonly dead: boolean
  older: Entry | undefined
  younger: Entry | undefined
}

export class ProcessTable<Entry extends Neighbour<Entry>> {
  #oldest: Entry | undefined = undefined
  #youngest: Entry | undefined = undefined
  size = 0

  /** The processes that are alive now, oldest first. */
  get all(): ReadonlyArray<Entry> {
    const cells: Array<Entry> = []
    for (let cell = this.#oldest; cell !== undefined; cell = cell.younger) cells.push(cell)
    return cells
  }

  /** The living processes, oldest first; a process that dies during the iteration is skipped. */
  *values(): Iterable<Entry> {
    for (const cell of this.all) if (!cell.dead) yield cell
  }

  /** The living process with an id; the search starts at the youngest. */
  find(id: number): Entry | undefined {
    let cell = this.#youngest
    while (cell !== undefined && cell.id > id) cell = cell.older
    return cell?.id === id ? cell : undefined
  }

  add(cell: Entry): void {
    const older = this.#youngest
    if (older === undefined) this.#oldest = cell
    else older.younger = cell
    cell.older = older
    this.#youngest = cell
    this.size++
  }

  remove(cell: Entry): void {
    const { older, younger } = cell
    if (older === undefined) this.#oldest = younger
    else older.younger = younger
    if (younger === undefined) this.#youngest = older
    else younger.older = older
    cell.older = undefined
    cell.younger = undefined
    this.size--
  }
}
