// The questions that wait, and where one is shown whose call is not known.
import type { CallView, QuestionView } from "../api/types";

/** Those that wait: questions of known calls first, each group oldest first. */
export function waitingQuestions(questions: ReadonlyMap<string, QuestionView>): QuestionView[] {
  const waiting = [...questions.values()].filter((question) => !question.is_done);
  return [
    ...waiting.filter((question) => question.call_id !== null),
    ...waiting.filter((question) => question.call_id === null),
  ];
}

/** The questions of a call; or, in one call alone, those of its server that name no call. */
export function questionsOf(
  call: CallView,
  questions: ReadonlyMap<string, QuestionView>,
  calls: ReadonlyMap<string, CallView>,
): { questions: QuestionView[]; isSure: boolean } {
  const waiting = waitingQuestions(questions);
  const ofCall = (one: CallView) => waiting.filter(({ call_id }) => call_id === one.call_id);
  const own = ofCall(call);
  if (own.length > 0 || !call.is_waiting_on_user) return { questions: own, isSure: true };
  // The newest call that waits and knows no question of its own.
  const home = [...calls.values()]
    .filter(({ server_id, is_waiting_on_user }) => {
      return server_id === call.server_id && is_waiting_on_user;
    })
    .findLast((one) => ofCall(one).length === 0);
  const isHome = home === undefined || home.call_id === call.call_id;
  const free = waiting.filter(
    (one) => one.call_id === null && one.server_id === call.server_id && one.origin !== "app",
  );
  return { questions: isHome ? free : [], isSure: false };
}

/** What happens to a question that nobody answers in time. */
export function endUnanswered({ round, method }: QuestionView): string {
  if (round === null) return "an error is sent";
  // Asked within the answer to a call (2026-07-28), there is no error to send.
  return method === "elicitation/create" ? "cancelled" : "its call fails";
}
