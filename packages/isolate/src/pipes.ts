/** The file descriptors that a child process shares with its host. */

/** Carries the messages, both ways. */
export const channelFd = 3

/** Carries nothing; the child sees its end when the host has ended. */
export const hostFd = 4
