/**
 * The functions of this package as Effects and Streams.
 *
 * @module
 */
export * as ChatEffect from "./troupe/ChatEffect.ts"
