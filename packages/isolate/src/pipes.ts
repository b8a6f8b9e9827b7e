/** The file descriptors that a child process shares with its host. */

/** Carries the messages, both ways. */
export const channelFd = 3

/** Carries nothing; it closes when the host ends, which the child detects. */
export const hostFd = 4
