/** Bytes to and from a socket, as they are. */
import { connect, type Socket } from "node:net"

/** Connects to a server's URL. */
export const connected = (url: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.once("error", reject)
    socket.once("connect", () => {
      socket.off("error", reject)
      // Some tests expect a server that cuts a connection.
      socket.on("error", () => {})
      resolve(socket)
    })
  })

/** All that comes until the other side ends or cuts. */
export const everything = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    socket.setEncoding("latin1")
    socket.on("data", (chunk: string) => (text += chunk))
    socket.once("close", () => resolve(text))
  })

/** Sends some bytes, and gives all that comes. */
export const exchanged = async (url: string, bytes: string): Promise<string> => {
  const socket = await connected(url)
  const came = everything(socket)
  socket.write(bytes, "latin1")
  return came
}
