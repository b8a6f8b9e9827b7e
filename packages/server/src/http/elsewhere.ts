/** Thrown by routes: another node is to answer the request. */

/** Thrown when a route names a chat whose home is another node. The request is forwarded there. */
export class Elsewhere {
  /** The Troupe's id of the chat. */
  readonly id: string

  constructor(id: string) {
    this.id = id
  }
}

/** Thrown when a request names another node of the cluster. The request is forwarded to that node. */
export class AtNode {
  readonly address: string

  constructor(address: string) {
    this.address = address
  }
}
