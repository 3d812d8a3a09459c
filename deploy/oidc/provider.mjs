// An identity provider for trying the gateway out (npm oidc-provider): its login page takes any
// name, and nothing is kept. ISSUER is its address for browsers, RESOURCE that of the gateway.
import { Provider } from "oidc-provider";

const { ISSUER, RESOURCE } = process.env;
const PORT = Number(process.env.PORT ?? 3000);

const provider = new Provider(ISSUER, {
  scopes: ["openid", "offline_access", "mcp", "mcp.read"],
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => `${RESOURCE}/mcp`,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, indicator) => {
        if (!indicator.startsWith(`${RESOURCE}/`)) throw new Error(`no such resource: ${indicator}`);
        return {
          scope: "mcp mcp.read",
          audience: indicator,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
        };
      },
    },
  },
});
provider.proxy = true; // HAProxy speaks TLS
provider.listen(PORT);
