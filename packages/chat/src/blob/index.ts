/** The bytes of images and files outside the messages: references, and the blobs of a chat. */
export { ChatBlobs } from "./chatBlobs.ts"
export { asSent } from "./references.ts"
