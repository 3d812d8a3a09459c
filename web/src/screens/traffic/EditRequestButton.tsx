import { useLocation, useNavigate } from "react-router";
import { fetchEvent } from "../../api/http";
import type { EventView } from "../../api/types";
import { ButtonWithReason } from "../../components/ButtonWithReason";
import { fillDrafts } from "../../state/filledDrafts";
import { fromHere } from "../../state/navigation";
import { fillRawDraft } from "../../state/rawDraft";
import { useInspector } from "../../state/store";
import { withErrorToast } from "../../state/toasts";
import { tryParseExactly } from "../../values/exactJson";
import { editDraftFor } from "./editDraft";
import { unknownServer } from "./ReplayButton";

/** Opens the screen of a request with its arguments filled in; sends nothing. */
export function EditRequestButton({ event }: { event: EventView }) {
  const navigate = useNavigate();
  const location = useLocation();
  const isKnown = useInspector((state) => state.servers.has(event.server_id));
  const edit = async (): Promise<void> => {
    const { text, text_is_cut } = await fetchEvent(event.run_id, event.seq);
    if (text === null || text_is_cut) throw new Error("The message is too large to edit.");
    const parsed = tryParseExactly(text);
    if (!parsed.ok) throw new Error(parsed.problem);
    const { path, drafts, raw } = editDraftFor(event.server_id, parsed.value);
    fillDrafts("The form was filled with the request from Traffic", drafts);
    if (raw !== undefined) fillRawDraft(event.server_id, raw);
    void navigate(path, { state: fromHere(location) });
  };
  return (
    <ButtonWithReason
      variant="default"
      size="compact-xs"
      disabledReason={unknownServer(event.server_id, isKnown)}
      onClick={() => void withErrorToast("The message cannot be edited", edit())}
    >
      Edit and send
    </ButtonWithReason>
  );
}
