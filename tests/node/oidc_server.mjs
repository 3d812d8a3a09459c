// An authorization server that we did not write (oidc-provider), for one protected resource and
// what is below it. node oidc_server.mjs RESOURCE [SECONDS [opaque|jwt]]: prints {"issuer": …} once
// it listens, ends with its stdin. SECONDS is how long tokens are good.
// Clients register themselves, refresh tokens rotate, tokens can be revoked. Its login page takes
// any name; nothing is kept.
import http from "node:http";
import { Provider } from "oidc-provider";

const resource = process.argv[2];
const lifetime = Number(process.argv[3] ?? 3600);
const format = process.argv[4] ?? "opaque";
const server = http.createServer((request, response) => handle(request, response));
let handle;
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    scopes: ["openid", "offline_access", "notes"],
    pkce: { required: () => true },
    ttl: { AccessToken: lifetime, Session: 600, Grant: 600, Interaction: 600, RefreshToken: 600 },
    cookies: { keys: ["a key for the tests alone"] },
    rotateRefreshToken: true,
    issueRefreshToken: async (_, client, code) =>
      client.grantTypeAllowed("refresh_token") && code.scopes.has("offline_access"),
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      dPoP: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, indicator) => {
          const isBelow = indicator.startsWith(`${resource}/`);
          if (indicator !== resource && !isBelow) throw new Error(`not known: ${indicator}`);
          return {
            scope: "notes",
            audience: indicator,
            accessTokenFormat: format,
            accessTokenTTL: lifetime,
          };
        },
      },
    },
  });
  // The resource server asks here whether a token is good; the provider has it in memory.
  provider.use(async (ctx, next) => {
    if (ctx.path !== "/check") return next();
    const token = await provider.AccessToken.find(ctx.query.token);
    ctx.body = { active: token !== undefined, aud: token?.aud, scope: token?.scope };
  });
  handle = provider.callback();
  console.log(JSON.stringify({ issuer, port: server.address().port, url: issuer }));
});
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
