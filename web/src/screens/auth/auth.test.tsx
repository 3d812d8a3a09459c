import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { beforeEach, expect, it, vi } from "vitest";
import type { AuthView, SignInRunView, SignInStepView } from "../../api/types";
import { ConnectProgress } from "../../servers/ConnectProgress";
import { command } from "../../state/commands";
import { emptyInspector, useInspector } from "../../state/store";
import { aServer } from "../../testing/views";
import { displayState, stateLabel } from "../../values/serverState";
import { Auth } from "./Auth";

vi.mock("../../state/commands");

const sent = vi.mocked(command);

const aStep = (part: Partial<SignInStepView> = {}): SignInStepView => ({
  step: "token",
  title: "Exchange the answer for a token",
  state: "pending",
  text: "",
  expected: "",
  facts: {},
  notes: [],
  exchange_ids: [],
  started: null,
  ended: null,
  ...part,
});

const aRun = (steps: SignInStepView[], part: Partial<SignInRunView> = {}): SignInRunView => ({
  sign_in_id: "one",
  reason: "the server wants a sign-in (401)",
  started: 1_700_000_000,
  ended: null,
  outcome: null,
  steps,
  error: null,
  ...part,
});

const anAuth = (part: Partial<AuthView> = {}): AuthView => ({
  runs: [],
  is_running: false,
  open_url: null,
  site: null,
  scopes: [],
  issuers: [],
  paused: null,
  draft: null,
  kept: null,
  registration: null,
  has_person: true,
  ...part,
});

const WAITING = anAuth({
  is_running: true,
  open_url: "https://login.example/authorize?state=x",
  site: "login.example",
  scopes: ["notes"],
});

const KEPT = {
  issuer: "https://login.example",
  resource: "https://notes.example/mcp",
  client_id: "abc",
  client_origin: "registered",
  requested: ["notes", "admin"],
  granted: ["notes"],
  token_type: "Bearer",
  token: "‹masked, 40 characters›",
  refresh_token: "‹masked, 30 characters›",
  expires_at: Date.now() / 1000 + 600,
  is_revocable: true,
};

const closed = (auth: AuthView | null, state: "CONNECTING" | "CONNECTED" | "DISCONNECTED") =>
  aServer({ server_id: "closed", url: "https://notes.example/mcp", state, auth });

function show(auth: AuthView | null, state: Parameters<typeof closed>[1] = "DISCONNECTED"): void {
  const servers = new Map([["closed", closed(auth, state)]]);
  useInspector.setState({ ...emptyInspector(), run_id: "run", servers });
  render(
    <MantineProvider env="test">
      <MemoryRouter initialEntries={["/s/closed/auth"]}>
        <Auth />
      </MemoryRouter>
    </MantineProvider>,
  );
}

beforeEach(() => void sent.mockResolvedValue(null as never));

it("names the site that a link opens, and opens it without a way back", () => {
  show(WAITING, "CONNECTING");
  const link = screen.getByRole("link", { name: "Sign in at login.example" });
  expect(link.getAttribute("href")).toBe(WAITING.open_url);
  expect(link.getAttribute("rel")).toContain("noopener");
  expect(link.getAttribute("target")).toBe("_blank");
});

it("opens nothing but addresses of the web", () => {
  show({ ...WAITING, open_url: "javascript:alert(1)" }, "CONNECTING");
  expect(screen.queryByRole("link", { name: /Sign in at/ })).toBeNull();
});

it("takes the address that the browser was sent to, and can be cancelled", () => {
  show(WAITING, "CONNECTING");
  const url = "http://127.0.0.1:1/callback?code=1&state=x";
  fireEvent.change(screen.getByLabelText(/paste the address/), { target: { value: url } });
  fireEvent.click(screen.getByRole("button", { name: "Continue" }));
  expect(sent).toHaveBeenCalledWith("PasteRedirect", { server_id: "closed", url });
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(sent).toHaveBeenCalledWith("CancelSignIn", { server_id: "closed" });
});

it("shows a server that waits for a person as one that needs a sign-in, on its card too", () => {
  const server = closed(WAITING, "CONNECTING");
  expect([displayState(server), stateLabel(server)]).toEqual(["SIGN_IN", "Sign-in needed"]);
  render(
    <MantineProvider env="test">
      <MemoryRouter>
        <ConnectProgress server={server} />
      </MemoryRouter>
    </MantineProvider>,
  );
  screen.getByRole("link", { name: "Sign in at login.example" });
  screen.getByRole("button", { name: "Cancel" });
});

it("opens the step that failed: what was expected, and what came", () => {
  const failed = aStep({
    step: "client",
    title: "Identify mcplens",
    state: "failed",
    text: "no registration is offered",
    expected: "a clientId, or dynamic registration",
  });
  const error = {
    code: "SIGN_IN_FAILED",
    message: "it failed",
    category: "connection",
    retryable: false,
    details: { hint: "register mcplens there by hand" },
    helpUrl: "",
  } as const;
  show(anAuth({ runs: [aRun([failed, aStep()], { outcome: "failed", error })] }));
  const list = screen.getByRole("list", { name: "Steps of the sign-in" });
  within(list).getByText("a clientId, or dynamic registration");
  within(list).getByText("not begun");
  within(list).getByText("Register mcplens there by hand.");
  within(list).getByRole("button", { name: "Enter client ID" });
  // What is missing can be entered at once.
  expect(screen.getByText("Change what is sent").closest("details")?.open).toBe(true);
});

it("lets what a step sends be changed before it goes on", () => {
  const draft = { client_id: "abc", redirect_uri: null, scopes: ["notes"], resource: null };
  show(anAuth({ is_running: true, paused: "authorization", draft }), "CONNECTING");
  fireEvent.change(screen.getAllByLabelText("Scope")[0] as Element, {
    target: { value: "notes admin" },
  });
  fireEvent.click(screen.getByRole("button", { name: "Continue" }));
  const edited = { server_id: "closed", at_once: false, scopes: "notes admin" };
  expect(sent).toHaveBeenCalledWith("ContinueSignIn", edited);
});

it("shows a token only when it was asked for twice", async () => {
  const token = { header: null, claims: null, token: "secret-token", refresh_token: null };
  show(anAuth({ kept: KEPT }), "CONNECTED");
  screen.getByText(/not granted: admin/);
  sent.mockResolvedValue(token as never);
  fireEvent.click(screen.getByRole("button", { name: "Reveal" }));
  expect(screen.queryByText("secret-token")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Show" }));
  await screen.findByText("secret-token");
  fireEvent.click(screen.getByRole("button", { name: "Hide" }));
  expect(screen.queryByText("secret-token")).toBeNull();
});

it("signs in step by step, with what was changed", () => {
  show(anAuth());
  fireEvent.change(screen.getByLabelText("Client ID"), { target: { value: "mine" } });
  fireEvent.click(screen.getByRole("button", { name: "Step by step" }));
  const asked = { server_id: "closed", is_stepwise: true, client_id: "mine" };
  expect(sent).toHaveBeenCalledWith("SignInTo", asked);
});

it("keeps a token without any sign-in, also where none was asked for", () => {
  show(null);
  screen.getByText("closed has not asked for a sign-in");
  fireEvent.change(screen.getByLabelText("Token"), { target: { value: "abc" } });
  fireEvent.click(screen.getByRole("button", { name: "Save the token" }));
  expect(sent).toHaveBeenCalledWith("SetToken", { server_id: "closed", token: "abc" });
});

it("forgets a registration only while nothing else changes the sign-in", async () => {
  let signOut: (done: { outcome: string }) => void = () => {};
  const issuer = KEPT.issuer;
  const registration = { issuer, client_id: "abc", redirect_uri: "http://127.0.0.1:1/callback" };
  show(anAuth({ kept: KEPT, registration }), "CONNECTED");
  const forget = screen.getByRole<HTMLButtonElement>("button", { name: "Forget registration" });
  // The same client and issuer are named by the sign-in above it.
  expect(within(screen.getByLabelText("Registration")).queryByText("Client ID")).toBeNull();
  sent.mockReturnValue(new Promise((resolve) => (signOut = resolve)) as never);
  fireEvent.click(screen.getByRole("button", { name: "Sign out" }));
  expect(forget.disabled).toBe(true); // it moves when the sign-in above it is gone
  signOut({ outcome: "signed out" });
  await waitFor(() => expect(forget.disabled).toBe(false));
  fireEvent.click(forget);
  expect(sent).toHaveBeenLastCalledWith("ForgetRegistration", { server_id: "closed" });
});
