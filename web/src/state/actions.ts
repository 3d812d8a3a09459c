// Commands whose failure is told as a toast, since the place they were given from shows no error.
import { notifications } from "@mantine/notifications";
import { createElement } from "react";
import { CommandError } from "../api/socket";
import type { ErrorView } from "../api/types";
import { errorMessage } from "../values/format";
import { visible } from "../values/hiddenCharacters";

/** Wait for something; if it fails, say what could not be done. */
export async function telling<T>(title: string, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (thrown) {
    const link = { href: viewOf(thrown).helpUrl, target: "_blank", rel: "noreferrer" };
    const help = createElement("a", link, "View documentation");
    const message = createElement("span", null, `${visible(errorMessage(thrown))} `, help);
    notifications.show({ color: "red", title, message });
    return null;
  }
}

export const viewOf = (thrown: unknown): ErrorView =>
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
