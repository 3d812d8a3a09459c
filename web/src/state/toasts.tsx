// Toasts about a command: that it failed, where the place it was given from shows no error, and
// that it is still waiting for a server. Other toasts are in notifications.ts.
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { CommandError } from "../api/socket";
import type { ErrorView } from "../api/types";
import { asSentence, errorMessage, formatTime, truncate } from "../values/format";
import { visible } from "../values/hiddenCharacters";
import { socket } from "./commands";

/** A toast's text with a button at its end. */
export const withButton = (text: string, label: string, onClick: () => void) => (
  <span className="row wrap">
    <span className="grow">{text}</span>
    <Button size="compact-xs" variant="default" onClick={onClick}>
      {label}
    </Button>
  </span>
);

/** Wait for something; if it fails, show a toast with this title and resolve to null. */
export async function withErrorToast<T>(title: string, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (thrown) {
    const message = (
      <span>
        {asSentence(visible(errorMessage(thrown)))}{" "}
        <a href={errorViewOf(thrown).helpUrl} target="_blank" rel="noreferrer">
          View documentation
        </a>
      </span>
    );
    notifications.show({ color: "red", title, message });
    return null;
  }
}

export const errorViewOf = (thrown: unknown): ErrorView =>
  thrown instanceof CommandError
    ? thrown.view
    : {
        code: "INTERNAL_ERROR",
        message: errorMessage(thrown),
        category: "protocol",
        retryable: false,
        details: {},
        helpUrl: "/docs/errors/internal-error",
      };

// A wait shorter than this needs no toast.
const DELAY_MS = 1000;
// URIs come from servers and may be long.
const MAX_LENGTH = 120;
let count = 0;

/**
 * Wait for a command that waits for a server. After a second a toast says what it waits for, with a
 * Cancel button; if it fails, another one says so, unless it was cancelled here.
 */
export async function withWaitingToast<T>(
  what: string,
  title: string,
  work: Promise<T>,
): Promise<T | null> {
  const id = `waiting ${count++}`;
  const since = Date.now() / 1000;
  let isCancelled = false;
  const cancel = (): void => {
    isCancelled = true;
    socket.abandon(work);
  };
  const timer = setTimeout(
    () =>
      notifications.show({
        id,
        loading: true,
        autoClose: false,
        withCloseButton: false,
        message: withButton(
          `Waiting for ${visible(truncate(what, MAX_LENGTH))} since ${formatTime(since, false)}`,
          "Cancel",
          cancel,
        ),
      }),
    DELAY_MS,
  );
  const settled = work.catch((thrown: unknown) => {
    if (isCancelled && errorViewOf(thrown).code === "CANCELLED") return null;
    throw thrown;
  });
  const value = await withErrorToast(title, settled);
  clearTimeout(timer);
  notifications.hide(id);
  return value;
}
