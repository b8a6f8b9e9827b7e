/**
 * The living processes of a system, in the order of their start.
 *
 * Each is tied to the ones before and after it, so that the table itself weighs nothing and never grows at once.
 *
 * TABLE1. `size` is how many are in it; a process that has left it ties to no other.
 * TABLE2. Their ids grow from the oldest to the youngest.
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

  /** The processes that are alive now, the oldest first. */
  get all(): ReadonlyArray<Entry> {
    const cells: Array<Entry> = []
    for (let cell = this.#oldest; cell !== undefined; cell = cell.younger) cells.push(cell)
    return cells
  }

  /** The living processes, the oldest first; one that dies while they are gone through is left out. */
  *values(): Iterable<Entry> {
    for (const cell of this.all) if (!cell.dead) yield cell
  }

  /** The living process of an id; the young ones are found first. */
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

  /** Takes out a process that is in it. */
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
