/** A certificate for `127.0.0.1` that signs itself, and its key: for tests only, every node has the same. */
import type { Tls } from "../../src/inner/InnerClient.ts"

const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYm0uHgddWsdqy8jR
zkR52zkcNl3b7o/LnqEHdtmq3pahRANCAAQj7I2ngdAPArq7EckQKNUSNJt7CGH5
XK2ZL1HgiTSPqG6uS3/59ikV8EzD7aH3VlAHVinFGYrHMA5j2khJp3kw
-----END PRIVATE KEY-----
`

const cert = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUCgAwIBAgIUZxioSPtpgnCkLxQt22DtmwtWuncwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwObm9kZSBvZiBhIHRlc3QwIBcNMjYxMTI0MTg1NjI1WhgPMjEy
NjEwMzExODU2MjVaMBkxFzAVBgNVBAMMDm5vZGUgb2YgYSB0ZXN0MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEI+yNp4HQDwK6uxHJECjVEjSbewhh+VytmS9R4Ik0
j6hurkt/+fYpFfBMw+2h91ZQB1YpxRmKxzAOY9pISad5MKNkMGIwHQYDVR0OBBYE
FP/M9vPF17SXyjlTkjdJYgIMHXfWMB8GA1UdIwQYMBaAFP/M9vPF17SXyjlTkjdJ
YgIMHXfWMA8GA1UdEwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAAATAKBggqhkjO
PQQDAgNIADBFAiBEw+aVZf4PgDPWyrzMiVlCQx0nuACdrWlFknIAe8fDggIhAMIT
Sl1KKN1G2isCnHNWbVKm22l45dwBnUAf+s+xRFim
-----END CERTIFICATE-----
`

/** The certificates of a node. */
export const certificates: Tls = { key, cert, ca: cert }
