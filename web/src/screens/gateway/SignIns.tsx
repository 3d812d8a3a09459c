// Who is signed in to servers that each user signs in to, and the end of a sign-in.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { UserSignInView } from "../../api/types";
import { ErrorNote } from "../../components/ErrorNote";
import { UntrustedText } from "../../components/UntrustedText";
import { useBusy } from "../../components/useBusy";
import { command } from "../../state/commands";
import { withErrorToast } from "../../state/toasts";
import { formatDateTime } from "../../values/format";
import { Cell, Heads, Section } from "./Section";
import { useReply } from "./useReply";

async function signOut({ caller, server_id, server_url }: UserSignInView) {
  const done = await withErrorToast(
    "Nobody was signed out",
    command("SignUserOut", { caller, server_id, server_url }),
  );
  if (done) notifications.show({ message: done, color: "lens" });
}

function Row({ one }: { one: UserSignInView }) {
  const { isBusy, run } = useBusy();
  return (
    <tr>
      <Cell label="User">
        <UntrustedText>{one.user}</UntrustedText>
      </Cell>
      <Cell label="Server">
        <UntrustedText>{one.server_id}</UntrustedText>
      </Cell>
      <Cell label="Address">
        <span className="mono">
          <UntrustedText>{one.server_url}</UntrustedText>
        </span>
      </Cell>
      <Cell label="Token from">{formatDateTime(one.renewed_at)}</Cell>
      <Cell label="">
        <Button
          size="compact-xs"
          variant="default"
          loading={isBusy}
          aria-label={`Sign out ${one.user} of ${one.server_id}`}
          onClick={() => run(() => signOut(one))}
        >
          Sign out
        </Button>
      </Cell>
    </tr>
  );
}

/** `canAsk`: the store that has them can be reached. */
export function SignIns({ revision, canAsk }: { revision: number; canAsk: boolean }) {
  const { value, error } = useReply(`${revision} ${canAsk}`, () => command("UserSignIns", {}));
  if (!canAsk)
    return (
      <Section title="Sign-ins">
        <p className="dim">Who is signed in is not known while the store cannot be reached.</p>
      </Section>
    );
  return (
    <Section title="Sign-ins" note="Accounts of users at servers that each user signs in to">
      {error && <ErrorNote error={error} title="The sign-ins cannot be shown" />}
      {value?.length === 0 && <p className="dim">Nobody is signed in.</p>}
      {value && value.length > 0 && (
        <table className="plain stacking">
          <Heads names={["User", "Server", "Address", "Token from", ""]} />
          <tbody>
            {value.map((one) => (
              <Row key={`${one.caller} ${one.server_id} ${one.server_url}`} one={one} />
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}
