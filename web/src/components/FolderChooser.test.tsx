import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { FolderView } from "../api/types";
import { command } from "../state/commands";
import { FolderChooser } from "./FolderChooser";

vi.mock("../state/commands");

const aFolder = (path: string): FolderView => ({
  path,
  uri: `file://${path}`,
  parent: "/",
  folders: ["work"],
  is_cut: false,
});

it("offers a folder that is being opened only when it is shown", async () => {
  let answer: (folder: FolderView) => void = () => undefined;
  vi.mocked(command).mockReturnValue(
    new Promise<FolderView>((resolve) => {
      answer = resolve;
    }),
  );
  const onChoose = vi.fn();
  render(
    <MantineProvider env="test">
      <FolderChooser start={aFolder("/home")} onChoose={onChoose} onClose={() => undefined} />
    </MantineProvider>,
  );
  const choose = screen.getByRole("button", { name: "Choose this folder" });
  fireEvent.click(screen.getByRole("button", { name: "work" }));
  fireEvent.click(choose);
  expect(onChoose).not.toHaveBeenCalled();
  await act(async () => answer(aFolder("/home/work")));
  fireEvent.click(choose);
  expect(onChoose).toHaveBeenCalledWith("/home/work");
});
