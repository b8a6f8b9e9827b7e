/** One route for all paths of the chats. */
import { chats } from "../../../../src/chats.ts"

export const runtime = "nodejs"
export const dynamic = "force-dynamic"

const handle = async (request: Request): Promise<Response> => (await chats()).fetch(request)

export { handle as GET, handle as POST, handle as DELETE }
