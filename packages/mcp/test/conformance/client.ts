/** The client under test by the official conformance suite: `client.ts <url>`, with the scenario in the environment. */
import {
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant
} from "@modelcontextprotocol/client"
import { System } from "@troupe/otp"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"

const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? ""
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Readonly<Record<string, string>>
const url = process.argv.at(-1) ?? ""

/** A value that the suite gives to this scenario. */
const given = (name: string): string => {
  const value = context[name]
  if (value === undefined) throw new Error(`the scenario ${scenario} has no ${name}`)
  return value
}

/** Does what a browser does: the authorization server of the suite redirects at once. */
const open = async (page: URL): Promise<string> => {
  const response = await fetch(page, { redirect: "manual" })
  return response.headers.get("location") ?? ""
}

const signIn: Mcp.SignIn = {
  redirectUrl: "http://localhost:3000/callback",
  open,
  checksIssuer: scenario !== "auth/2025-03-26-oauth-metadata-backcompat",
  ...(scenario === "auth/basic-cimd"
    ? { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" }
    : {}),
  ...(scenario === "auth/pre-registration"
    ? { client: { id: given("client_id"), secret: given("client_secret") } }
    : {})
}

const auth = () => {
  switch (scenario) {
    case "auth/client-credentials-basic":
      return new ClientCredentialsProvider({ clientId: given("client_id"), clientSecret: given("client_secret") })
    case "auth/client-credentials-jwt":
      return new PrivateKeyJwtProvider({
        clientId: given("client_id"),
        privateKey: given("private_key_pem"),
        algorithm: given("signing_algorithm")
      })
    case "auth/cross-app-access-complete-flow":
      return new CrossAppAccessProvider({
        clientId: given("client_id"),
        clientSecret: given("client_secret"),
        assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
          const granted = await requestJwtAuthorizationGrant({
            tokenEndpoint: given("idp_token_endpoint"),
            audience: authorizationServerUrl,
            resource: resourceUrl,
            idToken: given("idp_id_token"),
            clientId: given("idp_client_id"),
            ...(scope === undefined ? {} : { scope }),
            fetchFn
          })
          return granted.jwtAuthGrant
        }
      })
    default:
      return scenario.startsWith("auth/") ? signIn : undefined
  }
}

const system = System.make()
const mcp = await Mcp.start(
  system,
  { url, auth: auth() },
  { name: "conformance", elicit: () => ({ action: "accept", content: {} }) }
)
for (const { name, schema } of mcp.tools) {
  const { properties = {} } = schema as { readonly properties?: object }
  await call(mcp, name, Object.fromEntries(Object.keys(properties).map((property, at) => [property, at + 5])))
}
await System.stop(system)
