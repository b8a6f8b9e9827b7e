/** The limits of the wire between nodes. */

/** The most characters of a note: it names the caller and has the headers of its request. */
export const mostNote = 60_000

/** The most bytes of a body: those of a posted history, and its envelope. */
export const mostBytes = 36_700_160

/** The bytes of a body that are written at once: the network has taken them before the next ones are written. */
export const bodyPiece = 65_536

/** A connection without a stream is closed after this time by the node that opened it. */
export const idleMs = 60_000

/** The code of HTTP/2 with which a node ends a stream whose client has left. With any other code, the client may still be there. */
export const clientLeft = 0x7472

/** The bytes that a connection may have on the way, for all its streams together; each stream has its own limit. */
export const windowBytes = 2_147_483_647

/** The most streams of a connection at the same time. Further requests wait. */
const mostStreams = 100_000

/** The number of the setting of HTTP/2 in which a node sends the number of its run. */
export const runSetting = 0x7472

const settings = {
  enablePush: false,
  maxConcurrentStreams: mostStreams,
  /** The bytes of a stream that its reader has not taken. */
  initialWindowSize: 262_144,
  maxHeaderListSize: 131_072
} as const

/** The settings of both ends of a connection. */
export const connectionSettings = {
  settings,
  peerMaxConcurrentStreams: mostStreams,
  maxSendHeaderBlockLength: 131_072,
  /** In megabytes. */
  maxSessionMemory: 1_024
} as const
