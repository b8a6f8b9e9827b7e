/** An authorization server, and an MCP server that it protects, on loopback: registration, PKCE, refresh, and more scopes for one tool. */
import { createHash, randomUUID } from "node:crypto"
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import { listen } from "@troupe/server/Node"

/** What a test sees and does. */
export interface OAuthServer {
  readonly url: string
  /** The grants of the tokens so far, with their scopes. */
  readonly grants: ReadonlyArray<string>
  readonly registered: () => number
  /** All tokens so far. */
  readonly tokens: ReadonlyArray<string>
  /** Makes all access tokens invalid; with `all` the refresh tokens too. */
  readonly expire: (all?: boolean) => void
  readonly close: () => Promise<void>
}

/** Does what a browser does whose user agrees: returns the URL that the user is sent back to. */
export const signedInAt = async (page: unknown): Promise<string> => {
  const response = await fetch(String(page), { redirect: "manual" })
  return response.headers.get("location") ?? `no redirect: ${response.status} ${await response.text()}`
}

interface Grant {
  readonly scope: string
  readonly challenge: string
  readonly redirect: string
}

/** Starts both. The tool `look` needs the scope `read`, and the tool `buy` also `write`. */
export const oauthServer = async (): Promise<OAuthServer> => {
  const clients = new Set<string>()
  const codes = new Map<string, Grant>()
  const access = new Map<string, string>()
  const refresh = new Map<string, string>()
  const grants: Array<string> = []
  const given: Array<string> = []
  let base = ""
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: "shop", version: "1.0.0" })
      server.registerTool("look", { annotations: { readOnlyHint: true } }, async () => ({
        content: [{ type: "text", text: "42 books" }]
      }))
      server.registerTool("buy", {}, async () => ({ content: [{ type: "text", text: "bought" }] }))
      return server
    },
    { legacy: "reject" }
  )

  const tokens = (type: string, scope: string): Response => {
    const [token, more] = [randomUUID(), randomUUID()]
    given.push(token, more)
    access.set(token, scope)
    refresh.set(more, scope)
    grants.push(`${type} ${scope}`)
    return Response.json({ access_token: token, refresh_token: more, token_type: "Bearer", expires_in: 3600, scope })
  }

  const token = async (request: Request): Promise<Response> => {
    const form = new URLSearchParams(await request.text())
    const invalid = Response.json({ error: "invalid_grant" }, { status: 400 })
    if (form.get("grant_type") === "refresh_token") {
      const scope = refresh.get(form.get("refresh_token") ?? "")
      refresh.delete(form.get("refresh_token") ?? "")
      return scope === undefined ? invalid : tokens("refresh", scope)
    }
    const code = codes.get(form.get("code") ?? "")
    codes.delete(form.get("code") ?? "")
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    if (code?.challenge !== challenge || code.redirect !== form.get("redirect_uri")) return invalid
    return tokens("code", code.scope)
  }

  const authorize = ({ searchParams: asked }: URL): Response => {
    const redirect = asked.get("redirect_uri") ?? ""
    if (!clients.has(asked.get("client_id") ?? "") || asked.get("code_challenge_method") !== "S256")
      return new Response("refused", { status: 400 })
    const code = randomUUID()
    codes.set(code, { scope: asked.get("scope") ?? "", challenge: asked.get("code_challenge") ?? "", redirect })
    const back = new URL(redirect)
    back.searchParams.set("code", code)
    back.searchParams.set("state", asked.get("state") ?? "")
    return new Response(undefined, { status: 302, headers: { location: back.href } })
  }

  const guarded = async (request: Request): Promise<Response> => {
    const scope = access.get((request.headers.get("authorization") ?? "").replace("Bearer ", ""))
    const needed = request.method === "POST" && (await request.clone().text()).includes('"buy"') ? "read write" : "read"
    const about = `resource_metadata="${base}/.well-known/oauth-protected-resource/mcp", scope="${needed}"`
    if (scope === undefined)
      return new Response(undefined, { status: 401, headers: { "www-authenticate": `Bearer ${about}` } })
    if (needed.split(" ").every((one) => scope.split(" ").includes(one))) return handler.fetch(request)
    const error = `Bearer error="insufficient_scope", ${about}`
    return new Response(undefined, { status: 403, headers: { "www-authenticate": error } })
  }

  const answer = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    switch (url.pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return Response.json({
          resource: `${base}/mcp`,
          authorization_servers: [base],
          scopes_supported: ["read", "write"]
        })
      case "/.well-known/oauth-authorization-server":
        return Response.json({
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          registration_endpoint: `${base}/register`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"]
        })
      case "/register": {
        const id = randomUUID()
        clients.add(id)
        return Response.json({ ...((await request.json()) as object), client_id: id }, { status: 201 })
      }
      case "/authorize":
        return authorize(url)
      case "/token":
        return token(request)
      case "/mcp":
        return guarded(request)
      default:
        return new Response(undefined, { status: 404 })
    }
  }

  const { url, close } = await listen({ fetch: answer, close: () => handler.close(), hosts: undefined }, { graceMs: 0 })
  base = url
  return {
    url: `${url}/mcp`,
    grants,
    tokens: given,
    registered: () => clients.size,
    expire: (all = false) => {
      access.clear()
      if (all) refresh.clear()
    },
    close
  }
}
